import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { plantBugs } from "../test/support/plant-bugs.ts";
import type { PlantedBug } from "../test/support/plant-bugs.ts";
import { CONTENDERS, prepareContenders, startService } from "./contenders.ts";
import type { Target } from "./contenders.ts";
import { WITHOUT } from "./leave-one-out.ts";
import { ROUND_IDS_MAX, WARM_UP_SECONDS } from "./round.ts";
import { withFolder } from "./scratch.ts";
import { toQuartiles, toTable } from "./text-table.ts";
import type { Bench } from "./trade-offs.ts";
import { runLoad } from "./wrk.ts";

/** Times of threads: of all, and of those that have a name. The others are the runtime's own, which come and go. */
type Times = Readonly<{ all: number; main: number; writer: number; search: number }>;

/** The processor time of a create in µs, in two turns that followed each other. */
type Pair = Readonly<{ service: Times; other: Times }>;

type Start = (options: Readonly<{ data: string; signal: AbortSignal }>) => Promise<Target>;

/** The speed of the machine drifts, so many short turns tell more than a few long ones. */
const TURN_SECONDS_MAX = 3;

/** A program is at rest when it used no more processor time than this in so long a pause. */
const REST_PAUSE_MS = 600;
const REST_CPU_SECONDS = 0.02;
const REST_TRIES_MAX = 20;

/** `nothing` leaves nothing out: its difference to the service is the error of all the others. */
const COPIES: Readonly<Record<string, readonly PlantedBug[]>> = { nothing: [], ...WITHOUT };

/**
 * The processor time of a create: by thread, beside that of other programs, and by step, which is what a copy of the
 * service without it saves.
 */
export async function costOfACreate(bench: Bench): Promise<string> {
  const contenders = (await prepareContenders(bench.only, bench)).filter((name) => name !== "service");
  const startCopy = (edits: readonly PlantedBug[]): Start => {
    const root = plantBugs(edits);
    return (options) => startService({ ...options, root });
  };
  const service = startCopy([]);
  const others = [
    ...contenders.map((name) => ({ name, start: CONTENDERS[name] })),
    ...Object.entries(COPIES).map(([name, edits]) => ({ name, start: startCopy(edits) })),
  ];
  const compared = new Map<string, readonly Pair[]>();
  for (const { name, start } of others) {
    const pairs = await inTurns(service, start, bench);
    compared.set(name, pairs);
    const costs = pairs.map(({ other }) => other.all);
    bench.note(`cost-of-a-create: ${name}: ${toQuartiles(costs, 1)} µs`);
  }
  return toReport(compared, bench);
}

/** The service and another program in turns, both alive. With more at a time, each took far more: nobody knows why. */
async function inTurns(startOurs: Start, startOther: Start, bench: Bench): Promise<Pair[]> {
  return withFolder(async (folder) => {
    const options = (name: string) => {
      const data = join(folder, name);
      mkdirSync(data, { mode: 0o700 });
      return { data, signal: bench.signal };
    };
    const service = await startOurs(options("service"));
    try {
      const other = await startOther(options("other"));
      try {
        return await runTurns(service, other, bench);
      } finally {
        await other.program.stop();
      }
    } finally {
      await service.program.stop();
    }
  });
}

/** Two pairs a round, the second in the opposite order, so that a drift of the machine favours neither. */
async function runTurns(service: Target, other: Target, bench: Bench): Promise<Pair[]> {
  const { rounds, signal } = bench;
  const seconds = turnSeconds(bench);
  for (const target of [service, other]) await create(target, { turn: 0, seconds: WARM_UP_SECONDS, signal });
  const pairs: Pair[] = [];
  for (let turn = 1; turn <= 2 * rounds; turn += 2) {
    const first = await measureTurn(service, { turn, seconds, signal });
    pairs.push({ service: first, other: await measureTurn(other, { turn, seconds, signal }) });
    const second = await measureTurn(other, { turn: turn + 1, seconds, signal });
    pairs.push({ service: await measureTurn(service, { turn: turn + 1, seconds, signal }), other: second });
  }
  return pairs;
}

type Turn = Readonly<{ turn: number; seconds: number; signal: AbortSignal }>;

async function measureTurn(target: Target, turn: Turn): Promise<Times> {
  const before = timesOf(target);
  const creates = await create(target, turn);
  const after = timesOf(target);
  const perCreate = (name: keyof Times) => ((after[name] - before[name]) * 1e6) / creates;
  return { all: perCreate("all"), main: perCreate("main"), writer: perCreate("writer"), search: perCreate("search") };
}

/** Creates plants, and waits until the program has done what it left for later. Returns how many there were. */
async function create({ program, token }: Target, { turn, seconds, signal }: Turn): Promise<number> {
  const { requests } = await runLoad({ url: program.url, token, ids: "rising", start: turn * ROUND_IDS_MAX + 1, seconds, signal });
  for (let tries = 0; tries < REST_TRIES_MAX; tries += 1) {
    const before = program.cpuSeconds();
    await sleep(REST_PAUSE_MS, undefined, { signal });
    if (program.cpuSeconds() - before <= REST_CPU_SECONDS) break;
  }
  return requests;
}

function timesOf({ program }: Target): Times {
  const { main = 0, writer = 0, search = 0 } = program.cpuSecondsByThread();
  return { all: program.cpuSeconds(), main, writer, search };
}

function turnSeconds({ seconds }: Bench): number {
  return Math.min(seconds, TURN_SECONDS_MAX);
}

function toReport(compared: ReadonlyMap<string, readonly Pair[]>, bench: Bench): string {
  const names = [...compared.keys()];
  const pairsOf = (name: string) => compared.get(name) ?? [];
  const contenders = names.filter((name) => !(name in COPIES));
  const everyTurn = names.flatMap((name) => pairsOf(name).map(({ service }) => ({ service, other: service })));
  const copies = names.filter((name) => name in COPIES);
  return `Processor time of a create in µs: median [quartiles] of ${2 * bench.rounds} turns of ${turnSeconds(bench)} s

${toTable([
  ["contender", "all threads", "service to it", "main", "writer", "search", "others"],
  toContenderRow("service", everyTurn),
  ...contenders.map((name) => toContenderRow(name, pairsOf(name))),
])}

What a step takes: the service minus a copy without it, in turns that follow each other

${toTable([["without", "µs", "share", "µs of the main thread"], ...copies.map((name) => toStepRow(name, pairsOf(name)))])}`;
}

function toContenderRow(name: string, pairs: readonly Pair[]): string[] {
  const column = (value: (pair: Pair) => number, digits = 1) => toQuartiles(pairs.map(value), digits);
  return [
    name,
    column(({ other }) => other.all),
    name === "service" ? "1" : column(({ service, other }) => service.all / other.all, 2),
    column(({ other }) => other.main),
    column(({ other }) => other.writer),
    column(({ other }) => other.search),
    column(({ other: { all, main, writer, search } }) => all - main - writer - search),
  ];
}

function toStepRow(name: string, pairs: readonly Pair[]): string[] {
  const column = (value: (pair: Pair) => number, digits = 1) => toQuartiles(pairs.map(value), digits);
  return [
    name,
    column(({ service, other }) => service.all - other.all),
    column(({ service, other }) => 1 - other.all / service.all, 2),
    column(({ service, other }) => service.main - other.main),
  ];
}
