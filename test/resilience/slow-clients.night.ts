import type { Socket } from "node:net";
import { once } from "node:events";
import { afterAll, describe, expect, it } from "bun:test";
import { median } from "../../bench/quantile.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { until } from "../support/until.ts";
import { openSocket, receiveAll, sendRaw, statusesIn, toRequest } from "../support/raw-http.ts";
import { endAttacks, startAttack } from "../support/attack/attack.ts";
import { inForm, tell } from "../support/run-form.ts";
import { compareTurns, runClients } from "../support/attack/clients.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { readVitals } from "../support/vitals.ts";

afterAll(async () => {
  endAttacks();
  await killServices();
});

const SOCKETS = inForm(2000, 8000);
const ROUNDS = inForm(3, 10);
const ROUND_MS = inForm(1000, 5000);
/** Connections of clients that have ended, whose descriptors may not be closed yet. */
const SPARE = 4;
/** Both counts, with and without the attack, must be those of a busy service. */
const ANSWERED_MIN = 150;
/** On a busy machine, a p99 of a few milliseconds doubles by itself: up to here it says nothing. */
const P99_FLOOR_MS = inForm(120, 30);
/** A socket of a connection takes a few KB here and in the runtime. */
const GROWTH_MEGABYTES_MAX = inForm(100, 250);
const CUT_MS_MAX = 15_000;
/** Longer than other connections may be silent. */
const SLOW_MS = 14_000;
const LINES_MIN = 9;
const PLANT_BYTES = 60_000;
/**
 * How many connections do not read how many pages each, and how much memory they may hold, garbage included. Far from
 * both: 130 MB were measured, and more than 550 without a limit.
 */
const UNREAD = 120;
const UNREAD_PAGES = 2;
const UNREAD_MEGABYTES_MAX = 350;
/**
 * The system buffers 5 MB of each connection, and the service keeps the rest: a page is one of the largest plants with
 * which all responses may still keep as much as by default, 64 MB.
 */
const PAGE_BYTES = 4_000_000;
const LARGE_PLANTS = ["--body-bytes-max", String(4 * 2 ** 20)];

/** No bug: a stalled file is given up soon, so that a test need not wait for a minute. */
const GIVE_UP_SOON = [{ file: "src/http/transfer.ts", from: "const IDLE_SECONDS = 60;", to: "const IDLE_SECONDS = 4;" }];
/** No bug: the rate of an import is checked soon, so that a test need not wait for half a minute. */
const HURRY = [{ file: "src/http/import.ts", from: "const GRACE_SECONDS = 30;", to: "const GRACE_SECONDS = 3;" }];
/** Nearly as long as a connection may be silent: with a second more of the pause it is over. */
const NEARLY_SILENT_MS = 9000;
/** With it, that silence would be over by seconds. */
const PAUSE_MS = 4000;

function open(root?: string, flags: readonly string[] = []): Promise<Service> {
  return startService({ root, flags: [...PATIENT, ...flags] });
}

/** An import of NDJSON. */
function importLines({ ask }: Service, body: RequestInit["body"]): Promise<Response> {
  return ask("POST", "/plants/import", body, "application/x-ndjson");
}

/** The head of an import of so many bytes. */
function importHead({ token }: Service, length: number): string {
  return toRequest("POST /plants/import", { token, fields: [`Content-Length: ${length}`] });
}

/** Stores large plants, far more than the kernel buffers of an unread response. */
async function fill(place: Service, { plants = 400, bytes = PLANT_BYTES } = {}): Promise<void> {
  const lines = Array.from({ length: plants }, (_, at) => `{"id":${at + 1},"name":"${"x".repeat(bytes)}"}\n`).join("");
  expect(await (await importLines(place, lines)).json()).toMatchObject({ created: plants });
}

/** One or more requests whose responses are not read. Resolves when the first response has begun. */
async function beginUnread({ url, token }: Service, path: string, times = 1): Promise<Socket> {
  const socket = await openSocket(url);
  const line = `GET ${path}`;
  socket.write(toRequest(line, { token }).repeat(times - 1) + toRequest(line, { token, fields: ["Connection: close"] }));
  await once(socket, "readable");
  return socket;
}

/**
 * Asks for pages of large plants and does not read them: by how many megabytes the service grew, and how long it kept
 * the connections.
 */
async function leaveUnread(place: Service): Promise<Readonly<{ growth: number; cutMs: number }>> {
  const { pid } = place;
  await fill(place, { plants: 1, bytes: PAGE_BYTES });
  const { files, megabytes } = readVitals(pid);
  await Promise.all(Array.from({ length: UNREAD }, () => beginUnread(place, "/plants?limit=1000", UNREAD_PAGES)));
  // The system buffers the first pages; then the service has to keep the rest.
  let most = 0;
  for (let looks = 0; looks < 30; looks += 1) {
    most = Math.max(most, readVitals(pid).megabytes);
    await Bun.sleep(100);
  }
  const growth = most - megabytes;
  tell("slow", { UNREAD, UNREAD_PAGES, megabytes, growth });
  return { growth, cutMs: await waitUntilCut(place, files) };
}

/** Waits until a service has as few open files as before its slow clients, and returns how long that took. */
async function waitUntilCut({ pid }: Service, descriptors: number, waitMs = CUT_MS_MAX): Promise<number> {
  const start = performance.now();
  while (readVitals(pid).files > descriptors && performance.now() - start < waitMs) await Bun.sleep(100);
  return performance.now() - start;
}

it(`${SOCKETS} slow sockets cause the others no error, and at most double their p99`, async () => {
  const service = await open();
  async function attack() {
    const descriptors = readVitals(service.pid).files;
    const attacking = await startAttack({ ...service, sockets: SOCKETS });
    return {
      async end() {
        expect(readVitals(service.pid).files).toBeGreaterThan(SOCKETS * 0.9);
        await attacking.end();
        expect(await waitUntilCut(service, descriptors + SPARE)).toBeLessThan(CUT_MS_MAX);
      },
    };
  }
  const { quiet, attacked } = await compareTurns({ ...service, rounds: ROUNDS, roundMs: ROUND_MS, attack });
  const [without, beside] = [quiet, attacked].map((seen) => median(seen.map(({ p99 }) => p99))) as [number, number];
  const answered = Math.min(...[...quiet, ...attacked].map((seen) => seen.answered));
  tell("slow", { SOCKETS, without, beside, answered });
  expect([...quiet, ...attacked].flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(answered).toBeGreaterThan(ANSWERED_MIN);
  expect(beside).toBeLessThan(Math.max(P99_FLOOR_MS, 2 * without));
});

describe("a slow client", () => {
  it.concurrent(`is cut off within 15 s whatever it drips, and ${SOCKETS} of them leave no memory and no open file behind`, async () => {
    const place = await open();
    const { pid } = place;
    await runClients({ ...place, clients: 4, firstId: 1, isOver: (asked) => asked > ANSWERED_MIN });
    const [descriptors, before] = [readVitals(pid).files, readVitals(pid).megabytes];
    const attack = await startAttack({ ...place, sockets: SOCKETS });
    const during = readVitals(pid).megabytes;
    const cutMs = await waitUntilCut(place, descriptors);
    const after = readVitals(pid).megabytes;
    await until("The counts of all kinds of slow clients", () => Object.keys(attack.counts()).length >= 10);
    const kinds = Object.values(attack.counts());
    const slowest = Math.max(...kinds.flat());
    tell("slow", { SOCKETS, slowest, before, during, after });
    expect([slowest, cutMs].filter((ms) => ms >= CUT_MS_MAX)).toEqual([]);
    expect(readVitals(pid).files).toBeLessThanOrEqual(descriptors);
    expect(Math.max(during, after) - before).toBeLessThan(GROWTH_MEGABYTES_MAX);
    expect(place.lines.join("\n")).not.toContain('"level":"error"');
  });

  it.concurrent(`that does not read its pages of large plants is cut off within 15 s, and ${UNREAD} of them hold little memory meanwhile`, async () => {
    const { growth, cutMs } = await leaveUnread(await open(undefined, LARGE_PLANTS));
    expect(cutMs).toBeLessThan(CUT_MS_MAX);
    expect(growth).toBeLessThan(UNREAD_MEGABYTES_MAX);
  });

  it.concurrent("that does not read its export, or stops sending its import, is given up, and its connection closed", async () => {
    const place = await open(plantBugs(GIVE_UP_SOON));
    await fill(place);
    const descriptors = readVitals(place.pid).files;
    const sockets = await Promise.all(Array.from({ length: 4 }, () => beginUnread(place, "/plants/export")));
    expect(readVitals(place.pid).files).toBeGreaterThanOrEqual(descriptors + sockets.length);
    const { text, isClosed } = await sendRaw(place.url, [`${importHead(place, 500)}{"id":1`]);
    expect([text.slice(0, 12), isClosed]).toEqual(["HTTP/1.1 400", true]);
    expect(text).toContain('{"error":40007,');
    // SQLite keeps the descriptor of a closed connection for the next one (os_unix.c, setPendingFd).
    expect(await waitUntilCut(place, descriptors + sockets.length)).toBeLessThan(CUT_MS_MAX);
    expect(await place.statusOf("GET", "/plants/export")).toBe(200);
  });

  it.concurrent("may import a line now and then, for longer than a connection may be silent", async () => {
    const place = await open();
    const start = performance.now();
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Bun.sleep(1000);
        if (performance.now() - start > SLOW_MS && sent >= LINES_MIN) return controller.close();
        controller.enqueue(Buffer.from(`{"id":${(sent += 1)},"name":"slow"}\n`));
      },
    });
    const summary = await (await importLines(place, body)).json();
    expect(summary).toMatchObject({ read: sent, created: sent, refused: 0 });
  });

  it.concurrent("gets an error if its import drips for too long, and its connection is closed", async () => {
    const place = await open(plantBugs(HURRY));
    // A byte each quarter of a second.
    const drips = Array.from({ length: 60 }, () => " ");
    const { text, isClosed } = await sendRaw(place.url, [`${importHead(place, 1000)}{"id":1,"name":"x"}\n`, ...drips]);
    expect([text.slice(0, 12), isClosed]).toEqual(["HTTP/1.1 408", true]);
    expect(text).toContain('{"error":40800,');
  });

  it.concurrent("gets a whole export even if it pauses for longer than a connection may be silent", async () => {
    const place = await open();
    await fill(place);
    const socket = await beginUnread(place, "/plants/export");
    await Bun.sleep(SLOW_MS);
    const text = await receiveAll(socket);
    expect(text.length).toBeGreaterThan(400 * PLANT_BYTES);
    expect(text).toEndWith("\r\n0\r\n\r\n");
  });
});

describe("a client of a service that stands still, as on a paused machine", () => {
  it.concurrent("is answered afterwards what it sent meanwhile: the rest of a head, the rest of a body, lines of an import", async () => {
    expect(await sendDuringPause(await open(plantBugs(HURRY)))).toEqual([200, 200, 200]);
  });
});

/** Stops the service until clients were silent for longer than they may be. The last statuses, or "cut". */
async function sendDuringPause(place: Service): Promise<readonly (number | "cut")[]> {
  const create = (id: number) => toRequest("POST /plants", { token: place.token, body: `{"id":${id},"name":"Ficus"}` });
  const lines = [10, 11, 12].map((id) => `{"id":${id},"name":"Ficus"}\n`);
  const clients = await Promise.all(Array.from({ length: 3 }, () => openSocket(place.url)));
  const [asking, sending, filing] = clients as [Socket, Socket, Socket];
  const answers = clients.map((socket) => {
    const statuses: number[] = [];
    socket.on("data", (bytes: Buffer) => statuses.push(...statusesIn(bytes.toString("latin1"))));
    return statuses;
  });
  asking.write(create(1).slice(0, 5));
  sending.write(create(2).slice(0, -5));
  await Bun.sleep(NEARLY_SILENT_MS);
  filing.write(importHead(place, lines.join("").length) + lines[0]);
  await Bun.sleep(500);
  process.kill(place.pid, "SIGSTOP");
  await Bun.sleep(PAUSE_MS);
  asking.write(create(1).slice(5));
  sending.write(create(2).slice(-5));
  filing.write(lines[1]!);
  process.kill(place.pid, "SIGCONT");
  await Bun.sleep(500);
  filing.write(lines[2]!);
  await until("All are answered or cut off", () => clients.every((socket, at) => socket.closed || answers[at]!.length > 0));
  for (const socket of clients) socket.destroy();
  return answers.map((statuses) => statuses.at(-1) ?? "cut");
}
