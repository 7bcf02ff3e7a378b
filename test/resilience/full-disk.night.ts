import { join } from "node:path";
import { afterEach, describe, expect } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startPatientClock, isWithin } from "../support/patient-clock.ts";
import { plantBugs, CHECKPOINT_OFTEN } from "../support/plant-bugs.ts";
import { runCommand } from "../support/process.ts";
import { DISK_KINDS, mayMount, mountDisk, unmountDisks } from "../support/disk.ts";
import { needs } from "../support/program.ts";
import { killServices, PATIENT, startService, startTraced } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { parseTrace, syncsOf } from "../support/trace.ts";
import { tell } from "../support/run-form.ts";
import { judgeFolder, SOUND } from "../support/stored.ts";
import { askUntil } from "../support/until.ts";
import { plantOf, toJson } from "../support/flood.ts";

type Statuses = Set<number>;

const PAUSE_MS = 20;
const READY_MS_MAX = 6000;

/** Creates plants one by one and records every status; that of a create without a response, and of a wrong plant, is 0. */
function createWitness({ ask, statusOf }: Service) {
  const [creates, readiness, liveness, reads] = Array.from({ length: 4 }, () => new Set<number>()) as [
    Statuses,
    Statuses,
    Statuses,
    Statuses,
  ];
  /** What each create answered 503 received: the error's number, and when to try again. */
  const refusals: string[] = [];
  const [attempted, answered]: [bigint[], bigint[]] = [[], []];

  async function read(): Promise<void> {
    const first = answered[0];
    if (first === undefined) return;
    const plant = await ask("GET", `/plants/${first}`);
    const isSame = (await plant.text()) === toJson(plantOf(first));
    reads.add(isSame ? plant.status : 0).add(await statusOf("GET", "/plants"));
  }

  async function look(): Promise<boolean> {
    const status = await statusOf("GET", "/readyz");
    readiness.add(status);
    liveness.add(await statusOf("GET", "/livez"));
    return status === 200;
  }

  async function createNext(): Promise<void> {
    const id = BigInt(attempted.length + 1);
    attempted.push(id);
    const response = await ask("POST", "/plants", toJson(plantOf(id))).catch(() => undefined);
    creates.add(response?.status ?? 0);
    if (response?.status === 200) answered.push(id);
    if (response?.status !== 503) return void (await response?.arrayBuffer());
    const { error } = (await response.json()) as { error: number };
    refusals.push(`${error}, Retry-After: ${response.headers.get("retry-after")}`);
  }

  return {
    creates,
    readiness,
    liveness,
    reads,
    refusals,
    attempted,
    answered,
    /** Creates this many plants, or fewer once `isEnough`, and reads, and checks /readyz and /livez, after each. */
    async create(count: number, isEnough: () => boolean = () => false) {
      for (let round = 0; round < count && !isEnough(); round += 1) {
        await createNext();
        await read();
        await look();
        await Bun.sleep(PAUSE_MS);
      }
    },
    /** Creates nothing until /readyz is 200. False if that took too long. */
    waitUntilReady: () => isWithin(READY_MS_MAX, look),
  };
}

afterEach(async () => {
  await killServices();
  unmountDisks();
});

const REFUSED_MIN = 10;
/** It must be ready again this long after space comes back, without a restart. */
const HEAL_MS_MAX = 1000;

/** A service on a disk that will refuse writes for a while. */
type Scenario = Readonly<{
  service: Service;
  /** Fills the disk and frees space again, unless that happens by itself. */
  fill?: () => void;
  free?: () => void;
}>;

/** The next start finds every answered plant as it was sent, and only plants that were sent. */
async function expectKept(data: string, sent: Parameters<typeof judgeFolder>[1]): Promise<void> {
  expect(await (await startService({ data })).end("SIGTERM")).toBe(0);
  expect(judgeFolder(data, sent)).toEqual(SOUND);
}

/** What a client sees before, while and after the disk refuses writes. */
async function expectHealing({ service, fill = () => {}, free = () => {} }: Scenario, refusal: string) {
  const witness = createWitness(service);
  await witness.create(20);
  const before = witness.answered.length;
  fill();
  await witness.create(500, () => witness.refusals.length >= REFUSED_MIN);
  const clock = startPatientClock();
  free();
  const isHealed = await witness.waitUntilReady();
  const healMs = clock.ms();
  const healed = witness.answered.length;
  await witness.create(20);
  const after = witness.answered.length - healed;
  expect(witness.creates).toEqual(new Set([200, 503]));
  expect(witness.refusals.length).toBeGreaterThanOrEqual(REFUSED_MIN);
  expect(new Set(witness.refusals)).toEqual(new Set([refusal]));
  expect(witness.readiness).toEqual(new Set([200, 503]));
  expect(witness.liveness).toEqual(new Set([200]));
  expect(isHealed).toBe(true);
  expect([before, after]).toEqual([20, 20]);
  const events = service.lines.map((line) => (JSON.parse(line) as { event: string }).event);
  // On a disk that is really full, the index of names cannot be written either. Others may have access to the folder of
  // a mount, and it may be in memory.
  const others = events.filter((event) => !["search_behind", "data_exposed", "data_at_risk"].includes(event));
  expect(others).toEqual(["store_made", "settings", "started", "store_trouble", "store_healed"]);
  expect(await service.end("SIGTERM")).toBe(0);
  await expectKept(service.data, witness);
  return { witness, healMs };
}

/**
 * Fourteen writes to the WAL fail. The 161st from the start is the head of a page or the page, which the 162nd then is
 * not.
 */
async function startFailing(error: "ENOSPC" | "EIO", first: number): Promise<Scenario> {
  const data = temporaryFolder();
  const inject = ["-P", join(data, "plants.db-wal"), "-e", `inject=pwrite64:error=${error}:when=${first}..${first + 13}`];
  return { service: await startTraced({ data, inject, flags: PATIENT }) };
}

describe("a service that cannot write", () => {
  for (const { why, error, first, refusal } of [
    { why: "answers creates 50302 when the disk fills up within a page", error: "ENOSPC", first: 162, refusal: "50302, Retry-After: 1" },
    { why: "answers creates 50301 when the disk refuses to write", error: "EIO", first: 161, refusal: "50301, Retry-After: 1" },
  ] as const) {
    needs("strace").it(`${why}, is live but not ready until it recovers by itself, and loses no plant`, async () => {
      await expectHealing(await startFailing(error, first), refusal);
    });
  }

  for (const kind of DISK_KINDS) {
    mayMount(kind).it(
      `answers creates 50302 when a real file system is full, ${kind}; reads go on, and it recovers within a second of space coming back`,
      async () => {
        const { folder, fill, free } = mountDisk(kind);
        const service = await startService({ data: folder, flags: PATIENT });
        const { witness, healMs } = await expectHealing({ service, fill, free }, "50302, Retry-After: 1");
        expect(healMs).toBeLessThanOrEqual(HEAL_MS_MAX);
        expect(witness.reads).toEqual(new Set([200]));
        tell("full disk", `${kind}: ${witness.refusals.length} creates answered 503, ready ${Math.round(healMs)} ms after space came back`);
      },
    );
  }

  for (const kind of DISK_KINDS)
    mayMount(kind).it(`a command beside the service says in words that the disk is full, ${kind}`, async () => {
      const { folder, fill } = mountDisk(kind);
      const witness = createWitness(await startService({ data: folder, flags: PATIENT }));
      fill();
      // What the WAL has room for is used up.
      await witness.create(500, () => witness.refusals.length > 0);
      // The index of names may have given some back.
      const create = () => runCommand(["token", "create", "--data", folder]);
      const { status, stdout, stderr } = await askUntil(create, (answer) => answer.status !== 0);
      expect([status, stdout]).toEqual([1, ""]);
      const lines = stderr.trimEnd().split("\n");
      // Sometimes there is room for what a start writes.
      const atStart = `plant-store: ${folder}/plants.db cannot be used (database or disk is full): check whether its disk is full, read-only or failing.`;
      const later = [
        expect.stringMatching(/store_trouble reason=database or disk is full$/),
        "plant-store: The disk of the store is full: try again when the operator has made room. The reason: database or disk is full",
      ];
      expect(lines).toEqual(lines.length === 1 ? [atStart] : later);
    });
});

needs("strace").it(
  "a checkpoint that the disk refuses is repeated, while every create is answered 200 and the service stays ready",
  async () => {
    const data = temporaryFolder();
    const inject = ["-P", join(data, "plants.db"), "-e", "inject=pwrite64:error=EIO:when=12..13"];
    const service = await startTraced({ data, root: plantBugs(CHECKPOINT_OFTEN), inject, flags: PATIENT });
    function failures(): number {
      return service.lines.filter((line) => line.includes('"event":"checkpoint_failed"')).length;
    }
    const witness = createWitness(service);
    await witness.create(500, () => failures() === 2);
    await witness.create(60);
    expect(failures()).toBe(2);
    expect([witness.creates, witness.readiness]).toEqual([new Set([200]), new Set([200])]);
    await service.end("SIGKILL");
    const calls = parseTrace(await service.trace());
    const lastFailure = calls.findLast(({ result }) => result.startsWith("-1 EIO"))?.ended ?? Number.NaN;
    expect(syncsOf(calls, "plants.db").some(({ began, result }) => began > lastFailure && result === "0")).toBe(true);
    await expectKept(data, witness);
  },
);
