import { afterAll, expect, it } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expectConform } from "../support/conform.ts";
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
