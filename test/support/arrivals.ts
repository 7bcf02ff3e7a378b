// Sends requests at a fixed rate, whatever the responses: an open loop, like independent users. A separate program, so
// that it does not wait for its observer: `bun arrivals.ts '{"url":…}'` writes "open", and at the end the results as JSON.
import { randomBytes } from "node:crypto";
import type { Socket } from "bun";
import { quantile } from "../../bench/quantile.ts";
import { createToken } from "../../src/auth/secret.ts";
import { startAttackBy } from "./attack/attack.ts";
import { toRequest } from "./raw-http.ts";

export type Arrivals = Readonly<{
  url: string;
  /** For creates; without it, plants are asked for with tokens that were never issued. */
  token?: string;
  /** Requests a second. */
  rate: number;
  seconds: number;
  /** Connections that stay open, each with one request at a time. A request that finds all of them busy is dropped. */
  connections: number;
  firstId: number;
}>;

/** Times are from the moment at which a request was due, in milliseconds. */
export type Arrived = Readonly<{
  due: number;
  /** Found no free connection. */
  turnedAway: number;
  statuses: Readonly<Record<string, number>>;
  /** Responses 503 without Retry-After. */
  withoutRetryAfter: number;
  broken: number;
  /** Of the responses 200. */
  p99Ms: number;
  /** Of the responses 503. */
  refusedP99Ms: number;
}>;

type Line = { socket: Socket<Line> | undefined; dueAt: number };

/** Ends a wait for the last responses. That they are late is in their times. */
const LAST_MS = 30_000;

/** Starts them in a process of their own, under a program if one is named. Resolves when all connections are open. */
export function startArrivals(arrivals: Arrivals, under: readonly string[] = []) {
  return startAttackBy([...under, process.execPath, import.meta.path, JSON.stringify(arrivals)], {} as Arrived);
}

export async function arrive(arrivals: Arrivals, under: readonly string[] = []): Promise<Arrived> {
  return (await startArrivals(arrivals, under)).ended;
}

async function send({ url, token, rate, seconds, connections, firstId }: Arrivals): Promise<Arrived> {
  const { hostname, port } = new URL(url);
  const free: Line[] = [];
  const statuses: Record<string, number> = {};
  const accepted: number[] = [];
  const refused: number[] = [];
  let [due, turnedAway, withoutRetryAfter, broken, pending] = [0, 0, 0, 0, 0];
  let isOver = false;

  function take(line: Line, text: string): void {
    const status = text.slice(9, 12);
    statuses[status] = (statuses[status] ?? 0) + 1;
    (status === "200" ? accepted : refused).push(performance.now() - line.dueAt);
    if (status === "503" && !/^retry-after: \d+\r$/im.test(text)) withoutRetryAfter += 1;
    pending -= 1;
    free.push(line);
  }

  async function open(): Promise<void> {
    const line: Line = { socket: undefined, dueAt: 0 };
    line.socket = await Bun.connect<Line>({
      hostname,
      port: Number(port),
      data: line,
      socket: {
        // Our responses are small: they arrive whole.
        data: (socket, chunk) => take(socket.data, chunk.toString("latin1")),
        close() {
          if (!isOver) broken += 1;
        },
        error: () => {},
      },
    });
    free.push(line);
  }

  function sendOne(dueAt: number): void {
    const line = free.pop();
    if (!line) {
      turnedAway += 1;
      return;
    }
    line.dueAt = dueAt;
    pending += 1;
    const body = `{"id":${firstId + due},"name":"Monstera deliciosa ${due % 5000}","tag":"bed ${due % 300}"}`;
    line.socket!.write(token === undefined ? askAsStranger() : toRequest("POST /plants", { token, body }));
  }

  for (let opened = 0; opened < connections; opened += 100)
    await Promise.all(Array.from({ length: Math.min(100, connections - opened) }, open));
  console.log("open");
  const begun = performance.now();
  for (let now = begun; now < begun + seconds * 1000; now = performance.now()) {
    for (let dueAt = begun + (due * 1000) / rate; dueAt <= now; dueAt = begun + (due * 1000) / rate) {
      sendOne(dueAt);
      due += 1;
    }
    await Bun.sleep(1);
  }
  for (const end = performance.now() + LAST_MS; pending > 0 && performance.now() < end;) await Bun.sleep(5);
  isOver = true;
  return {
    due,
    turnedAway,
    statuses,
    withoutRetryAfter,
    broken: broken + pending,
    p99Ms: quantile(accepted, 0.99),
    refusedP99Ms: quantile(refused, 0.99),
  };
}

function askAsStranger(): string {
  return toRequest("GET /plants/1", { token: createToken(randomBytes) });
}

if (import.meta.main) {
  console.log(JSON.stringify(await send(JSON.parse(process.argv[2]!) as Arrivals)));
  process.exit(0);
}
