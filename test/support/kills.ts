import { readToken } from "./service.ts";
import type { ServiceProcess } from "./process.ts";
import { startFlood } from "./flood.ts";
import { until } from "./until.ts";
import type { Flood, Journal } from "./flood.ts";
import { startService } from "./service-process.ts";

type KillOptions = Readonly<{
  data: string;
  root?: string;
  flags?: readonly string[];
  /** How often at the most; fewer once `isEnough`. */
  cycles: number;
  isEnough?: () => boolean;
  /** Resolves when the service shall be killed. */
  moment: (service: ServiceProcess, flood: Flood) => Promise<void>;
  /** Looks at the store after each restart. */
  judge: (journal: Journal) => void | Promise<void>;
}>;

/** What came of kills under load. */
export type Kills = Readonly<{
  /** One for each kill, and all as one. */
  journals: readonly Journal[];
  all: Pick<Journal, "attempted" | "answered">;
  /** How often the signal met a process that had not ended by itself. */
  struck: number;
  /** The longest time from the spawn of a restart to the answer 200 of /readyz. */
  readyMsMax: number;
}>;

/** Load, kill -9 at a moment of it, and a start on what is left: again and again on the same store. */
export async function killAgain({ cycles, isEnough = () => false, moment, judge, ...options }: KillOptions): Promise<Kills> {
  const journals: Journal[] = [];
  const readyMs: number[] = [];
  let struck = 0;
  let firstId = 1n;
  let service = await startService(options);
  const token = await readToken(options.data);
  while (journals.length < cycles && !isEnough()) {
    const flood = startFlood({ url: service.url, token, firstId });
    await until("The first plant is answered", () => flood.count() > 0);
    await moment(service, flood);
    if ((await service.end("SIGKILL")) === null) struck += 1;
    const journal = await flood.stop();
    firstId += BigInt(journal.attempted.length);
    const spawned = performance.now();
    service = await startService(options);
    const { status } = await fetch(`${service.url}/readyz`);
    if (status !== 200) throw new Error(`A started service answered ${status} to /readyz.`);
    readyMs.push(performance.now() - spawned);
    journals.push(journal);
    await judge(journal);
  }
  const status = await service.end("SIGTERM");
  if (status !== 0) throw new Error(`The service ended with ${status}.`);
  const all = { attempted: journals.flatMap(({ attempted }) => attempted), answered: journals.flatMap(({ answered }) => answered) };
  return { journals, all, struck, readyMsMax: Math.max(...readyMs) };
}
