import { startPatientClock } from "./patient-clock.ts";
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
  /** At most this often; fewer once `isEnough`. */
  cycles: number;
  isEnough?: () => boolean;
  /** Resolves when it is time to kill the service. */
  moment: (service: ServiceProcess, flood: Flood) => Promise<void>;
  /** Checks the store after each restart. */
  judge: (journal: Journal) => void | Promise<void>;
}>;

/** The results of kills under load. */
export type Kills = Readonly<{
  /** One for each kill, and all as one. */
  journals: readonly Journal[];
  all: Pick<Journal, "attempted" | "answered">;
  /** How often the signal hit a process that had not ended by itself. */
  struck: number;
  /** The longest time from the spawn of a restart to a 200 from /readyz, by a patient clock. */
  readyMsMax: number;
}>;

/** Load, kill -9 at some moment, and a start on what is left: repeatedly on the same store. */
export async function killAgain({ cycles, isEnough = () => false, moment, judge, ...options }: KillOptions): Promise<Kills> {
  const journals: Journal[] = [];
  const readyMs: number[] = [];
  const clock = startPatientClock();
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
    const spawned = clock.ms();
    service = await startService(options);
    const { status } = await fetch(`${service.url}/readyz`);
    if (status !== 200) throw new Error(`A started service answered ${status} to /readyz.`);
    readyMs.push(clock.ms() - spawned);
    journals.push(journal);
    await judge(journal);
  }
  const status = await service.end("SIGTERM");
  if (status !== 0) throw new Error(`The service ended with ${status}.`);
  const all = { attempted: journals.flatMap(({ attempted }) => attempted), answered: journals.flatMap(({ answered }) => answered) };
  return { journals, all, struck, readyMsMax: Math.max(...readyMs) };
}
