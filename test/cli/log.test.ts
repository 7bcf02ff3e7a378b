import { randomBytes } from "node:crypto";
import { describe, expect, it } from "bun:test";
import { createToken } from "../../src/auth/secret.ts";
import { createLog } from "../../src/runtime/log.ts";
import { startTestService } from "../support/service.ts";

function logTo(lines: string[], isTerminal: boolean) {
  return createLog({ level: "info", isTerminal, write: (line) => lines.push(line), now: () => 0 });
}

describe("the log", () => {
  it("is one JSON line an event without a terminal", () => {
    const lines: string[] = [];
    logTo(lines, false).info("started", { address: "http://x\n", id: 2n ** 60n });
    expect(lines).toHaveLength(1);
    expect(lines[0]!.indexOf("\n")).toBe(lines[0]!.length - 1);
    expect(JSON.parse(lines[0]!)).toEqual({
      time: "1970-01-01T00:00:00.000Z",
      level: "info",
      event: "started",
      address: "http://x\n",
      id: "1152921504606846976",
    });
  });

  it("keeps the causes of an error", () => {
    const lines: string[] = [];
    logTo(lines, false).error("unexpected_error", { error: new Error("outer", { cause: new Error("inner") }) });
    expect(JSON.parse(lines[0]!)).toMatchObject({ error: { message: "outer", cause: { message: "inner" } } });
  });

  it("survives an error that is its own cause, and an object that contains itself", () => {
    const lines: string[] = [];
    const error = new Error("loop");
    error.cause = error;
    logTo(lines, false).error("unexpected_error", { error });
    expect(JSON.parse(lines[0]!)).toMatchObject({ event: "unexpected_error", error: { message: "loop", cause: { message: "loop" } } });
    const knot: Record<string, unknown> = {};
    knot["knot"] = knot;
    logTo(lines, false).error("unexpected_error", { knot });
    expect(JSON.parse(lines[1]!)).toMatchObject({ event: "unexpected_error", unloggable: expect.any(String) });
  });

  it("leaves out what is below its level", () => {
    const lines: string[] = [];
    logTo(lines, false).debug("request");
    expect(lines).toEqual([]);
  });

  it("never shows a token, wherever it is", () => {
    const token = createToken(randomBytes);
    const lines: string[] = [];
    for (const isTerminal of [true, false]) logTo(lines, isTerminal).error("bug", { token, error: new Error(`Bearer ${token}`) });
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).not.toContain(token);
      expect(line).toContain("plant_[hidden]");
    }
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
