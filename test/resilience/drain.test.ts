import { afterEach, describe, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { findFreePort } from "../support/port.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { until } from "../support/until.ts";
import { inForm, tell } from "../support/run-form.ts";
import { askAs, killServices, spawnService, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { judgeDatabase, judgeFolder, SOUND } from "../support/stored.ts";
import { openSocket, openWire, toRequest } from "../support/raw-http.ts";
import { plantOf, toJson } from "../support/flood.ts";
import type { Wire } from "../support/raw-http.ts";

/** How often the readiness of a service is checked, like a balancer does. */
const LOOK_MS = 100;
/**
 * The pause after each response: half of the clients send one request after the other, half are mostly idle on an open
 * connection.
 */
const PAUSES_MS = [0, 70] as const;

/** Clients that keep their connections and behave like a balancer. */
function startBalanced({ urls, token }: Readonly<{ urls: readonly string[]; token: string }>) {
  const [attempted, answered]: [bigint[], bigint[]] = [[], []];
  const statuses = new Set<number>();
  /** Requests without a response, and connections that a ready service did not accept, each with its reason. */
  const broken: string[] = [];
  const ready = new Set<string>();
  /** Responses 200 that asked to close the connection. */
  let last = 0;
  let isStopping = false;

  async function look(url: string): Promise<void> {
    while (!isStopping) {
      const { status } = await fetch(`${url}/readyz`, { keepalive: false }).catch(() => ({ status: 0 }));
      if (status === 200) ready.add(url);
      else ready.delete(url);
      await Bun.sleep(LOOK_MS);
    }
  }

  /** One plant, over a connection that may be kept. */
  async function create(wire: Wire): Promise<void> {
    const id = BigInt(attempted.length + 1);
    attempted.push(id);
    const answer = await wire.send(Buffer.from(toRequest("POST /plants", { token, body: toJson(plantOf(id)) })));
    if (typeof answer === "string") return void broken.push(`The request was ${answer}.`);
    statuses.add(answer.status);
    if (answer.status !== 200) return;
    answered.push(id);
    if (answer.headers.get("connection") === "close") last += 1;
  }

  async function work(client: number): Promise<void> {
    let held: { url: string; wire: Wire } | undefined;
    while (!isStopping) {
      if (held && !(ready.has(held.url) && held.wire.isOpen())) {
        held.wire.close();
        held = undefined;
      }
      const url = held?.url ?? [...ready][client % Math.max(ready.size, 1)];
      if (url === undefined) {
        await Bun.sleep(LOOK_MS / 10);
        continue;
      }
      held ??= { url, wire: openWire(url, (reason) => broken.push(String(reason))) };
      await create(held.wire);
      await Bun.sleep(held.wire.isOpen() ? PAUSES_MS[client % PAUSES_MS.length]! : LOOK_MS / 10);
    }
    held?.wire.close();
  }

  const working = Promise.all([...urls.map(look), ...Array.from({ length: CLIENTS }, (_, client) => work(client))]);
  return {
    answered: () => answered.length,
    /** Lets each client finish its current request. */
    async stop() {
      isStopping = true;
      await working;
      return { attempted, answered, statuses, broken, last };
    },
  };
}

afterEach(killServices);

const RESTARTS = inForm(4, 50, 2);
const STARTS = inForm(4, 50, 2);
const CLIENTS = inForm(16, 16, 4);
/** A few health checks of a balancer, even on a machine that stops for two seconds. */
const DELAY_MS = inForm(3000, 500);
const END_MS_MAX = 10_000;
/** The default would take too much of the short form's time. */
const DRAIN_MS = inForm(2000, 8000);
/** Each restart happens under load: so many creates are answered before it. */
const ANSWERED_MIN = inForm(25, 100);

/** Lines of an import come one by one, for longer than the delay: it is under way when the service stops listening. */
const IMPORT_LINES = 6;
const IMPORT_PAUSE_MS = inForm(700, 150);

type Restart = Readonly<{ status: number | null; endMs: number; imported: string }>;
type RollOptions = Readonly<{ replicas: 1 | 2; flags: readonly string[] }>;
type Roll = Awaited<ReturnType<typeof roll>>;

/** A slow import. Resolves with the response, or with the reason why there is none. */
async function importSlowly(service: Service, token: string, turn: number): Promise<string> {
  let line = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (line === IMPORT_LINES) return controller.close();
      line += 1;
      controller.enqueue(new TextEncoder().encode(`{"id":${-turn * IMPORT_LINES - line},"name":"slow"}\n`));
      await Bun.sleep(IMPORT_PAUSE_MS);
    },
  });
  try {
    const response = await askAs(token, service).ask("POST", "/plants/import", body, "application/x-ndjson");
    const { created } = (await response.json()) as { created: number };
    return `${response.status}, ${created} created`;
  } catch (reason) {
    return String(reason);
  }
}

/** SIGTERM while an import is under way. */
async function end(service: Service, token: string, turn: number): Promise<Restart> {
  const importing = importSlowly(service, token, turn);
  await Bun.sleep(IMPORT_PAUSE_MS);
  const began = performance.now();
  const status = await service.end("SIGTERM");
  return { status, endMs: performance.now() - began, imported: await importing };
}

/** Restarts under load, one replica after the other, each on its own port. */
async function roll({ replicas, flags }: RollOptions) {
  const start = (port: string, data?: string) =>
    startService({ ...(data ? { data } : {}), flags: [...flags, "--drain-delay-ms", String(DELAY_MS), "--port", port] });
  const services: Service[] = [];
  while (services.length < replicas) services.push(await start(String(await findFreePort())));
  const { data, token } = services[0]!;
  const load = startBalanced({ urls: services.map(({ url }) => url), token });
  const restarts: Restart[] = [];
  for (let turn = 0; turn < RESTARTS; turn += 1) {
    const enough = load.answered() + ANSWERED_MIN;
    await until("The clients are at work", () => load.answered() >= enough);
    const replica = turn % replicas;
    const service = services[replica]!;
    restarts.push(await end(service, token, turn));
    services[replica] = await start(new URL(service.url).port, service.data);
  }
  return { ...(await load.stop()), restarts, data };
}

function expectSmooth({ statuses, broken, last, restarts, attempted, answered }: Roll): void {
  expect(broken).toEqual([]);
  expect([...statuses]).toEqual([200]);
  expect(answered).toHaveLength(attempted.length);
  expect(answered.length).toBeGreaterThanOrEqual(RESTARTS * ANSWERED_MIN);
  // Each service that stopped said so to its connected clients.
  expect(last).toBeGreaterThanOrEqual(RESTARTS);
  for (const { status, endMs, imported } of restarts) {
    expect({ status, imported }).toEqual({ status: 0, imported: `200, ${IMPORT_LINES} created` });
    expect(endMs).toBeLessThan(END_MS_MAX);
  }
}

describe("a rolling restart under load on kept connections breaks no request and answers only 200, and every service ends with 0 within 10 s", () => {
  it(`${RESTARTS} times, two replicas on one PostgreSQL`, async () => {
    const database = await (await sharedCluster()).createDatabase();
    const result = await roll({ replicas: 2, flags: ["--database", database] });
    expectSmooth(result);
    expect(await judgeDatabase(database, result)).toEqual(SOUND);
    tell("drain, two replicas", { last: result.last, answered: result.answered.length, endMs: result.restarts.map(({ endMs }) => endMs) });
  });

  it(`${RESTARTS} times, one service on SQLite that clients wait for`, async () => {
    const result = await roll({ replicas: 1, flags: [] });
    expectSmooth(result);
    expect(judgeFolder(result.data, result)).toEqual(SOUND);
    tell("drain, one service", { last: result.last, answered: result.answered.length, endMs: result.restarts.map(({ endMs }) => endMs) });
  });
});

it(`a request that never ends is cut off after ${DRAIN_MS} ms, and the service ends with 0 within 10 s`, async () => {
  const service = await startService({ flags: ["--drain-ms", String(DRAIN_MS)] });
  const hanging = await openSocket(service.url);
  hanging.write(toRequest("POST /plants", { token: service.token, fields: ["Content-Length: 50"] }));
  // Otherwise it would be given up as silent before that.
  const trickle = setInterval(() => hanging.write(" "), 1000);
  await Bun.sleep(100);
  const began = performance.now();
  expect(await service.end("SIGTERM")).toBe(0);
  const endMs = performance.now() - began;
  clearInterval(trickle);
  hanging.destroy();
  expect(endMs).toBeGreaterThan(DRAIN_MS - 500);
  expect(endMs).toBeLessThan(END_MS_MAX);
  tell("drain with a request that never ends", `ended after ${Math.round(endMs)} ms, with 0`);
});

it(`SIGTERM at the moment when the service says that it is running ends it with 0, ${STARTS} times`, async () => {
  for (let turn = 0; turn < STARTS; turn += 1) {
    const signalled = Promise.withResolvers<number | null>();
    const service = spawnService({ data: temporaryFolder(), onLine });
    function onLine(line: string): void {
      if (line.includes('"event":"started"')) signalled.resolve(service.end("SIGTERM"));
    }
    expect(await signalled.promise).toBe(0);
  }
});
