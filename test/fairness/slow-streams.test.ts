import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { median } from "../../bench/quantile.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { closeOf, toRequest } from "../support/raw-http.ts";
import { killServices, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { openStream } from "../support/stream.ts";
import { until } from "../support/until.ts";
import { readVitals } from "../support/vitals.ts";

/** More than the system buffers for a connection of which nothing is read. */
const CHANGES = 400;
const NAME = "x".repeat(60_000);

/** What waits for all readers together, what the log and the garbage collector take, and not what was written to them. */
const GROWTH_MB_MAX = 150;

/** How many plants are put to one service before it is the turn of the other. */
const TURN = 20;

/** No create waits so long, in milliseconds: a reader is cut off later. */
const DELAY_MS_MAX = 1000;

const FLAGS = ["--metrics", "127.0.0.1:0", "--body-bytes-max", "1000000"];

let service: Service;
/** A service without streams, to compare with. */
let quiet: Service;
beforeAll(async () => {
  [service, quiet] = await Promise.all([startService({ flags: FLAGS }), startService({ flags: FLAGS })]);
});
afterAll(killServices);

async function put(id: number, name: string, { ask } = service): Promise<number> {
  const began = performance.now();
  expect((await ask("PUT", `/plants/${id}`, JSON.stringify({ name }))).ok).toBe(true);
  return performance.now() - began;
}

async function ended(reason: string): Promise<number> {
  const text = await (await fetch(service.started["metrics"]!)).text();
  return Number(new RegExp(`^plant_store_changes_streams_ended_total\\{reason="${reason}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

const open = (query = "") => openStream(service.url, { token: service.token, query });

/** A stream of which a byte is taken now and then. Resolves when the connection is closed. */
async function trickle(): Promise<void> {
  const { hostname, port } = new URL(service.url);
  // Returning false pauses it again.
  const onread = { buffer: Buffer.alloc(1), callback: () => false };
  const socket = connect({ host: hostname, port: Number(port), onread });
  socket.on("error", () => {});
  socket.write(toRequest("GET /plants/changes", { token: service.token, fields: ["Accept: text/event-stream"] }));
  const timer = setInterval(() => socket.resume(), 100);
  await closeOf(socket);
  clearInterval(timer);
}

describe("a reader of a stream that reads nothing, or a byte now and then", () => {
  it("is cut off and not waited for, delays neither others nor creates, and goes on from its cursor", async () => {
    await put(1, NAME);
    const [quick, stuck] = await Promise.all([open(), open()]);
    stuck.socket.pause();
    const trickling = trickle();
    const before = readVitals(service.pid).megabytes;
    const times: number[] = [];
    const usual: number[] = [];
    const clock = startPatientClock();
    let longest = 0;
    for (let first = 2; first <= CHANGES; first += TURN) {
      const ids = Array.from({ length: Math.min(TURN, CHANGES + 1 - first) }, (_, at) => first + at);
      for (const id of ids) {
        const began = clock.ms();
        times.push(await put(id, NAME));
        longest = Math.max(longest, clock.ms() - began);
      }
      for (const id of ids) usual.push(await put(id, NAME, quiet));
    }
    await quick.waitFor(CHANGES - 1);
    await until("Both are cut off", async () => (await ended("slow")) === 2);
    await trickling;
    expect(readVitals(service.pid).megabytes - before).toBeLessThan(GROWTH_MB_MAX);
    expect(median(times)).toBeLessThan(3 * median(usual) + 10);
    expect(longest).toBeLessThan(DELAY_MS_MAX);
    stuck.socket.resume();
    await closeOf(stuck.socket);
    expect(stuck.isWhole()).toBe(false);
    const seen = new Set(stuck.changes());
    expect(seen.size).toBeLessThan(CHANGES - 1);
    const rest = await open(`?after=${stuck.cursor()}`);
    await rest.waitFor(CHANGES - 1 - seen.size);
    expect([...new Set([...seen, ...rest.changes()])]).toEqual([...quick.changes()]);
    rest.socket.destroy();
    quick.socket.destroy();
  });

  it("costs its token its share, so that many of them take no more memory than a few", async () => {
    // In JSON it is six times as long.
    const large = "\u0001".repeat(60_000);
    const streams = await Promise.all(Array.from({ length: 32 }, () => open()));
    for (const { socket } of streams) socket.pause();
    const before = readVitals(service.pid).megabytes;
    for (let id = 1000; (await ended("memory")) === 0; id += 1) await put(id, large);
    expect(readVitals(service.pid).megabytes - before).toBeLessThan(GROWTH_MB_MAX);
    for (const { socket } of streams) socket.destroy();
    await put(1, "it still works");
  });
});
