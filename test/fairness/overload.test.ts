import { afterAll, describe, expect, it } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import type { PlantStoreError } from "../../src/domain/errors.ts";
import { createAdmission } from "../../src/http/admission.ts";
import { parseFields } from "../../src/http/wire/fields.ts";
import type { Fields } from "../../src/http/wire/fields.ts";
import { expectConform } from "../support/conform.ts";
import { rejectionOf } from "../support/rejection.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const data = temporaryFolder();
const service = await startTestService({ data, queueMax: "5", queueWaitMs: "300" });
afterAll(() => service.stop());

it("answers 503 with Retry-After past the queue's limits, keeps /livez at 200, and heals", async () => {
  // A process that holds the write lock acts like the slowest disk there is.
  const other = new DatabaseSync(join(data, "plants.db"));
  other.exec("BEGIN IMMEDIATE");
  const creates = Array.from({ length: 40 }, (_, id) => service.post(JSON.stringify({ id, name: "x" })));
  const responses = await Promise.all(creates);
  expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  for (const response of responses) {
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect([50300, 50301]).toContain(((await expectConform({ method: "post", path: "/plants" }, response)) as { error: number }).error);
  }
  other.exec("ROLLBACK");
  other.close();
  await until("It is healed", async () => (await service.post('{"id":100,"name":"healed"}')).status === 200);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
});

describe("a change for which there is no room", () => {
  let isDraining = false;
  const admit = createAdmission({ isFull: () => true, bodyBytesMax: 1000, isDraining: () => isDraining });

  /** How one is refused: at once or later, and whether its connection is closed. */
  async function refusalOf(line: string): Promise<string> {
    const refusal = rejectionOf(admit("changes", parseFields([line]) as Fields, "a")!) as Promise<PlantStoreError>;
    const when = await Promise.race([refusal.then(() => "at once"), Bun.sleep(500).then(() => "later")]);
    const { code, headers } = await refusal;
    return [code, when, ...Object.values(headers ?? {})].join(" ");
  }

  it("is refused only after a pause, so that no one can ask again at once", async () => {
    expect(await refusalOf("Content-Length: 1000")).toBe("overloaded later");
  });

  it("is refused at once, and its connection closed, if its body is or may be large: what arrives of it would wait too", async () => {
    expect(await refusalOf("Content-Length: 1001")).toBe("overloaded at once close");
    expect(await refusalOf("Transfer-Encoding: chunked")).toBe("overloaded at once close");
  });

  it("is refused at once, and its connection closed, while too many of the same token wait", async () => {
    const waiting = Array.from({ length: 4096 }, () => refusalOf("Content-Length: 5"));
    expect(await refusalOf("Content-Length: 5")).toBe("overloaded at once close");
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(["overloaded later"]));
    expect(await refusalOf("Content-Length: 5")).toBe("overloaded later");
  });

  it("is refused at once when the service ends: no one waits for that", async () => {
    isDraining = true;
    expect(await refusalOf("Content-Length: 5")).toBe("overloaded at once");
  });
});
