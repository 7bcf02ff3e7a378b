import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { plantBugs } from "../test/support/plant-bugs.ts";
import type { PlantedBug } from "../test/support/plant-bugs.ts";
import type { Bench } from "./bench.ts";
import { prepareContenders, withContender } from "./contenders.ts";
import type { ContenderName, Target } from "./contenders.ts";
import { WITHOUT } from "./leave-one-out.ts";
import { ROUND_IDS_MAX, runLoad, WARM_UP_SECONDS } from "./load.ts";
import { withFolder } from "./machine.ts";
import { toFigureTable, toQuartiles } from "./rounds.ts";

/** Times of threads: of all, and of those that have a name. The others are the runtime's own, which come and go. */
type Times = Readonly<{ all: number; main: number; writer: number; search: number }>;

/** The processor time of a create in µs, in two turns that followed each other. */
type Pair = Readonly<{ service: Times; other: Times }>;

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
  const compared: Record<string, readonly Pair[]> = {};
  for (const name of [...contenders, ...Object.keys(COPIES)]) {
    const pairs = await compareWithService(name, bench);
    compared[name] = pairs;
    const costs = pairs.map(({ other }) => other.all);
    bench.note(`cost-of-a-create: ${name}: ${toQuartiles(costs, 1)} µs`);
  }
  return toReport(compared, bench);
}

/** The service and a contender or a copy, both alive. With more at a time, each took far more: no one knows why. */
async function compareWithService(name: string, bench: Bench): Promise<Pair[]> {
  const { signal } = bench;
  const edits = COPIES[name];
  const [program, root] = edits ? (["service", { root: plantBugs(edits) }] as const) : [name as ContenderName, {}];
  return withFolder((folder) =>
    withContender("service", { data: join(folder, "service"), root: plantBugs([]), signal }, (service) =>
      withContender(program, { data: join(folder, "other"), ...root, signal }, (other) => runTurns(service, other, bench)),
    ),
  );
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
async function create(target: Target, { turn, seconds, signal }: Turn): Promise<number> {
  const { program } = target;
  const { requests } = await runLoad(target, { ids: "rising", start: turn * ROUND_IDS_MAX + 1, seconds, signal });
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

function toReport(compared: Readonly<Record<string, readonly Pair[]>>, bench: Bench): string {
  const everyTurn = Object.values(compared).flatMap((pairs) => pairs.map(({ service }) => ({ service, other: service })));
  const [copies, contenders] = [true, false].map((isCopy) =>
    Object.fromEntries(Object.entries(compared).filter(([name]) => name in COPIES === isCopy)),
  );
  return `Processor time of a create in µs: median [quartiles] of ${2 * bench.rounds} turns of ${turnSeconds(bench)} s

${toFigureTable(
  { service: everyTurn, ...contenders },
  {
    "all threads": [({ other }) => other.all, 1],
    "service to it": [({ service, other }) => service.all / other.all, 2],
    main: [({ other }) => other.main, 1],
    writer: [({ other }) => other.writer, 1],
    search: [({ other }) => other.search, 1],
    others: [({ other: { all, main, writer, search } }) => all - main - writer - search, 1],
  },
  toQuartiles,
)}

What a step takes: the service minus a copy without it, in turns that follow each other

${toFigureTable(
  copies!,
  {
    µs: [({ service, other }) => service.all - other.all, 1],
    share: [({ service, other }) => 1 - other.all / service.all, 2],
    "µs of the main thread": [({ service, other }) => service.main - other.main, 1],
  },
  toQuartiles,
)}`;
}
