import { randomBytes } from "node:crypto";
import { describe, expect, it } from "bun:test";
import { createToken } from "../../src/auth/secret.ts";
import type { Log } from "../../src/runtime/log.ts";
import { createLog } from "../../src/runtime/log.ts";
import { startTestService } from "../support/service.ts";

/** The lines that a log without a terminal, or with one, writes. */
function written(act: (log: Log) => void, isTerminal = false): string[] {
  const lines: string[] = [];
  act(createLog({ level: "info", isTerminal, write: (line) => lines.push(line), now: () => 0 }));
  return lines;
}

describe("the log", () => {
  it("is one JSON line an event without a terminal, and leaves out what is below its level", () => {
    const lines = written((log) => {
      log.debug("request");
      log.info("started", { address: "http://x\n", id: 2n ** 60n });
    });
    const event = '"level":"info","event":"started","address":"http://x\\n","id":"1152921504606846976"';
    expect(lines).toEqual([`{"time":"1970-01-01T00:00:00.000Z",${event}}\n`]);
  });

  const loop = new Error("loop");
  loop.cause = loop;
  const knot: Record<string, unknown> = {};
  knot["knot"] = knot;
  it.each([
    ["keeps the causes of an error", { error: new Error("outer", { cause: new Error("inner") }) }, ["outer", "inner"]],
    ["survives an error that is its own cause", { error: loop }, ["loop", "loop"]],
  ])("%s", (_, fields, [message, cause]) => {
    const [line] = written((log) => log.error("unexpected_error", fields));
    expect(JSON.parse(line!)).toMatchObject({ event: "unexpected_error", error: { message, cause: { message: cause } } });
  });

  it("survives an object that contains itself", () => {
    const [line] = written((log) => log.error("unexpected_error", { knot }));
    expect(JSON.parse(line!)).toMatchObject({ event: "unexpected_error", unloggable: expect.any(String) });
  });

  it.each([true, false])("never shows a token, wherever it is, on a terminal: %p", (isTerminal) => {
    const token = createToken(randomBytes);
    const [line] = written((log) => log.error("bug", { token, error: new Error(`Bearer ${token}`) }), isTerminal);
    expect(line).not.toContain(token);
    expect(line).toContain("plant_[hidden]");
  });
});

describe("a service that logs every request", () => {
  it("names each by its request id and holds no token", async () => {
    const service = await startTestService({ log: "debug" });
    await service.post('{"id":1,"name":"x"}', { "x-request-id": "my-create" });
    await service.post("{", { authorization: `Bearer ${createToken(randomBytes)}` });
    await service.stop();
    const log = service.logged.join("");
    const events = service.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events).toContainEqual(
      expect.objectContaining({ event: "request", requestId: "my-create", method: "POST", path: "/plants", status: 200 }),
    );
    expect(events).toContainEqual(expect.objectContaining({ event: "request", status: 401 }));
    expect(log).not.toContain(service.token);
    expect(log).not.toMatch(/plant_[0-9A-Za-z]{32}/);
  });
});
