import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { tell } from "../support/run-form.ts";
import { askAs, killServices, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { openStream } from "../support/stream.ts";

const FEW = 240;
const CHANGES = 400;
/** Twice as many take twice as long; the rest is for a busy machine. */
const TIMES_MAX = 3;

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(killServices);

/** How long the process had a processor so far, in milliseconds. */
function processorMs(): number {
  const fields = readFileSync(`/proc/${service.pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** A token may have 32 of them. */
async function openMany(count: number, queryOf: (at: number) => string) {
  const tokens = await Promise.all(
    Array.from({ length: Math.ceil(count / 32) }, async () => {
      const made = await service.ask("POST", "/tokens", '{"name":"follower","scopes":["plants:read"]}');
      return ((await made.json()) as { token: string }).token;
    }),
  );
  return Promise.all(
    Array.from({ length: count }, (_, at) => openStream(service.url, { token: tokens[Math.floor(at / 32)]!, query: queryOf(at) })),
  );
}

let id = 0;

/** What the changes cost while so many follow them; each of which gets those that `changesOf` says. */
async function costOf(count: number, queryOf: (at: number) => string, changesOf: (at: number) => number): Promise<number> {
  const streams = await openMany(count, queryOf);
  const { statusOf } = askAs(service.token, service);
  const before = processorMs();
  for (let some = 0; some < CHANGES; some += 1) {
    id += 1;
    expect(await statusOf("PUT", `/plants/${id}`, JSON.stringify({ name: "Acer", tag: `t${some}` }))).toBe(201);
  }
  await Promise.all(streams.map((stream, at) => stream.waitFor(changesOf(at))));
  const cost = processorMs() - before;
  for (const { socket } of streams) socket.destroy();
  return cost;
}

describe("twice as many streams", () => {
  for (const [what, queryOf, changesOf] of [
    ["of all changes", () => "", () => CHANGES],
    ["with a tag each", (at: number) => `?tag=t${at}`, (at: number) => (at < CHANGES ? 1 : 0)],
  ] as const)
    it(`${what} cost at most three times as much`, async () => {
      await costOf(FEW, queryOf, changesOf);
      const [few, many] = [await costOf(FEW, queryOf, changesOf), await costOf(2 * FEW, queryOf, changesOf)];
      tell(`streams ${what}`, { few, many });
      expect(many / few).toBeLessThan(TIMES_MAX);
    });
});
