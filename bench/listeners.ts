import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bench } from "./bench.ts";
import { withContender } from "./contenders.ts";
import type { Target } from "./contenders.ts";
import { measure, ROUND_IDS_MAX } from "./load.ts";
import { withFolder } from "./machine.ts";
import { plantOf } from "./plant-names.ts";
import { quantile } from "./quantile.ts";
import { inTurns, toFigureTable, toRatioTable, toText } from "./rounds.ts";

const LISTENERS = 1000;
const TOKEN_LISTENERS_MAX = 32;

/** One of 25 plants has it: at full speed they hear of some 1,000 changes a second. */
const TAG = "nursery tray 3";

/** Creates a second for the delays, and how often they are sent, in milliseconds. */
const PACE = 1000;
const TICK_MS = 10;

/** What those who follow the changes cost creates, and when they hear of them. */
export async function listeners(bench: Bench): Promise<string> {
  const { rounds: count, seconds, signal, note } = bench;
  return withFolder((data) =>
    withContender("service", { data, signal }, async (target) => {
      const tokens = await makeTokens(target);
      let start = 1;
      const rounds = await inTurns(bench, { part: "listeners", names: ["beside", "alone"] }, async (name) => {
        const sockets = name === "beside" ? await listen(target, { tokens, query: `?tag=${encodeURIComponent(TAG)}` }) : [];
        const figures = await measure(target, { ids: "rising", start: (start += ROUND_IDS_MAX), seconds, signal });
        const isComplete = sockets.every((socket) => !socket.destroyed);
        for (const socket of sockets) socket.destroy();
        if (!isComplete) throw new Error("A listener was cut, so the round is void.");
        return { ...figures, perSecond: figures.rate, rate: figures.rate / figures.programCores };
      });
      note(`listeners: ${PACE} creates a second for ${seconds} s`);
      const delays = await measureDelays(target, tokens, bench);
      return `Creates beside ${toText(LISTENERS)} listeners of a tag, and alone: median [min-max] of ${count} rounds of ${seconds} s

${toFigureTable(rounds, {
  "creates/s": [({ perSecond }) => perSecond, 0],
  "in a second of the processor": [({ rate }) => rate, 0],
  "p99 ms": [({ p99Ms }) => p99Ms, 1],
  "memory MB": [({ residentMemory }) => residentMemory, 0],
})}

${toRatioTable(rounds, [["beside", "alone"]])}

From the commit until one of ${toText(LISTENERS)} listeners has it, ${toText(PACE)} creates a second: ${delays}`;
    }),
  );
}

async function makeTokens({ program: { url }, token }: Target): Promise<string[]> {
  const tokens: string[] = [];
  while (tokens.length * TOKEN_LISTENERS_MAX < LISTENERS) {
    const name = `listeners ${tokens.length}`;
    const response = await fetch(`${url}/tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name, scopes: ["plants:read"], days: 1 }),
    });
    if (!response.ok) throw new Error(`A token was refused: ${await response.text()}`);
    tokens.push(((await response.json()) as { token: string }).token);
  }
  return tokens;
}

type Listening = Readonly<{ tokens: readonly string[]; query?: string }>;

/** Opens all streams, and resolves once each has begun. */
async function listen({ program: { url } }: Target, { tokens, query = "" }: Listening): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let at = 0; at < LISTENERS; at += 1) {
    const socket = connect({ host: hostname, port: Number(port) });
    const token = tokens[Math.floor(at / TOKEN_LISTENERS_MAX)]!;
    socket.write(
      `GET /plants/changes${query} HTTP/1.1\r\nHost: plants\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    const [head] = (await once(socket, "data")) as [Buffer];
    if (!head.includes(" 200 ")) throw new Error(`A listener was refused: ${head.toString()}`);
    socket.on("error", () => socket.destroy());
    socket.resume();
    sockets.push(socket);
  }
  return sockets;
}

/** As all get the same, one of them is looked at. */
async function measureDelays(target: Target, tokens: readonly string[], { seconds, signal }: Bench): Promise<string> {
  const sockets = await listen(target, { tokens });
  const delays: number[] = [];
  sockets.at(-1)!.on("data", (bytes: Buffer) => {
    const now = Date.now();
    for (const [, at] of bytes.toString("latin1").matchAll(/"at":"([^"]+)"/g)) delays.push(now - Date.parse(at!));
  });
  const answers: Promise<Response>[] = [];
  for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt; await sleep(TICK_MS, undefined, { signal }))
    for (let some = 0; some < (PACE * TICK_MS) / 1000; some += 1) answers.push(create(target, -1 - answers.length, signal));
  const isRefused = (await Promise.all(answers)).some(({ ok }) => !ok);
  if (isRefused) throw new Error("A create was refused, so the delays are void.");
  const { resident } = target.program.memory();
  for (const socket of sockets) socket.destroy();
  const [median, late] = [quantile(delays, 0.5), quantile(delays, 0.99)];
  return `median ${toText(median)} ms, p99 ${toText(late)} ms, of ${toText(delays.length)} changes; memory ${toText(resident)} MB`;
}

function create({ program: { url }, token }: Target, id: number, signal: AbortSignal): Promise<Response> {
  const body = JSON.stringify({ ...plantOf(-id), id });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return fetch(`${url}/plants`, { method: "POST", headers, body, signal });
}
