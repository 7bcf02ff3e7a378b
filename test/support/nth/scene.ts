import { basename, join } from "node:path";
import { isWithin } from "../patient-clock.ts";
import { inForm } from "../run-form.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import type { Random } from "../random.ts";
import { openJournal } from "../power/journal.ts";
import { changePlants } from "../power/traffic.ts";
import type { Done } from "../power/traffic.ts";
import { FailedStart, PATIENT, startTraced } from "../service-process.ts";
import type { TracedService } from "../service-process.ts";
import { readPlants, readServed } from "../power/stored-plants.ts";
import { LOSSES, readImage, replay, writeImage } from "../power/image.ts";
import type { Stage } from "../power/image.ts";
import { isSync, openPathOf, parseTrace } from "../trace.ts";
import type { Call } from "../trace.ts";

/** The files of the plants. "." is the folder, which contains the names. */
export const STORE: readonly string[] = ["plants.db", "plants.db-wal", "plants.db-journal", "plants.db-shm", "."];

/** What fails: one call, or all calls from it on. */
export type Fault = Readonly<{ call: string; error: string; isLasting: boolean }>;

/** What a process did while something failed. */
export type Served = Readonly<{
  end: "at its start" | "by itself" | "when told";
  /** Null if a signal ended it. */
  code: number | null;
  said: string;
  statuses: readonly number[];
  isReady: boolean;
  /** Whether the sync of a file failed before it was asked to end. */
  isDistrusted: boolean;
  calls: readonly Call[];
}>;

type SceneOptions = Readonly<{
  /** The files on which calls are seen, counted, and fail. */
  files: readonly string[];
  root: string;
  random: Random;
}>;

const LOAD = { clients: 4, steps: 4 } as const;
/** The responses of a scene without faults. */
export const ANSWERED = 3 * LOAD.clients * LOAD.steps;
const READY_MS_MAX = 3000;
/** The index of names follows the changes a quarter of a second later. The short form shares its processors. */
const FOLLOW_MS = inForm(1000, 350);

/** A data folder, with what clients tried on it and what each process in turn did to the files. */
export function openScene({ files, root, random }: SceneOptions) {
  const data = temporaryFolder();
  const paths = files.flatMap((file) => ["-P", join(data, file)]);
  const journal = openJournal();
  const stages = createStages({ data, files, random });
  let done: Done | undefined;
  let moment = 0;

  async function change(url: string): Promise<number[]> {
    const statuses: number[] = [];
    function onAnswer({ request, status }: { request: string; status: number }): void {
      moment += 1;
      journal.answer({ request, status, moment });
      statuses.push(status);
    }
    done = await changePlants({ url, data, journal, random, ...LOAD, before: done, onAnswer });
    return statuses;
  }

  /** All changes, with time to heal in between, unless the service ends before. */
  async function load({ url, exited }: TracedService, readyMsMax: number) {
    const statuses = await change(url);
    await isReadyWithin(url, readyMsMax);
    statuses.push(...(await change(url)));
    const isReady = await isReadyWithin(url, readyMsMax);
    const hasEnded = await Promise.race([exited.then(() => true), Bun.sleep(FOLLOW_MS).then(() => false)]);
    return { statuses, isReady, end: hasEnded ? ("by itself" as const) : ("when told" as const) };
  }

  function findIn(folder: string, when: number): string[] {
    try {
      return journal.findFaults(readPlants(folder), when);
    } catch (reason) {
      // Before the first response there is nothing to lose: a first start that failed on a broken disk may leave an
      // invalid file.
      return when === 0 ? [] : [String(reason)];
    }
  }

  return {
    data,
    answered: () => journal.made(),
    /** Serves with a fault at the nth call, until it ends by itself or all changes are sent. */
    async serve({ call, error, isLasting }: Fault, n: number): Promise<Served> {
      const inject = [...paths, "-e", `inject=${call}:error=${error}:when=${n}${isLasting ? "+" : ""}`];
      const service = await startTraced({ data, root, inject, flags: PATIENT }).catch(expectFailedStart);
      if (service instanceof FailedStart) {
        const { code, message: said, trace } = service;
        return { end: "at its start", code, said, statuses: [], isReady: false, isDistrusted: false, calls: stages.keep(trace, moment) };
      }
      const loaded = await load(service, isLasting ? 0 : READY_MS_MAX);
      const isDistrusted = parseTrace(service.traceSoFar()).some(isFailedSync);
      // Every other time it may clean up.
      const code = await service.end(n % 2 === 0 ? "SIGTERM" : "SIGKILL");
      const said = service.lines.join("\n");
      return { ...loaded, code, said, isDistrusted, calls: stages.keep(await service.trace(), moment) };
    },
    /** Serves again, without a fault. Returns what is wrong with it and with the files that it leaves. */
    async check(): Promise<string[]> {
      const service = await startTraced({ data, root, inject: paths, flags: PATIENT });
      const refused = (await change(service.url)).filter((status) => status >= 300);
      const found = journal.findFaults(await readServed({ url: service.url, data }), moment);
      await service.end("SIGKILL");
      stages.keep(await service.trace(), moment);
      return [...found, ...refused.map((status) => `${status} after the restart`), ...findIn(data, moment)];
    },
    cutPower: () => stages.cutPower(findIn),
  };
}

function expectFailedStart(reason: unknown): FailedStart {
  if (reason instanceof FailedStart) return reason;
  throw reason;
}

/** SQLite ignores the result of a sync of the folder: the service syncs it again itself. */
function isFailedSync(call: Call): boolean {
  return isSync(call) && call.result.startsWith("-1") && basename(openPathOf(call) ?? "").startsWith("plants.db");
}

async function isReadyWithin(url: string, msMax: number): Promise<boolean> {
  let status = 0;
  await isWithin(msMax, async () => {
    status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => -1,
    );
    return status === 200 || status === -1;
  });
  return status === 200;
}

const IMAGES_EACH = inForm(1, 10);

/** What each process in turn did to the files of a data folder. */
function createStages({ data, files, random }: Pick<SceneOptions, "files" | "random"> & Readonly<{ data: string }>) {
  const stages: (Stage & { moment: number })[] = [];
  return {
    /** Keeps what an ended process did until a moment, and returns its calls. */
    keep(trace: string, moment: number): readonly Call[] {
      const left = [...readImage(data)].filter(([name]) => files.includes(name));
      const calls = parseTrace(trace);
      stages.push({ calls, lines: trace.split("\n").length, left: new Map(left), moment });
      return calls;
    },
    /**
     * What is wrong with the disk after a power cut right after each of the processes. Only if all files of the plants
     * are seen.
     */
    cutPower(findFaults: (folder: string, moment: number) => readonly string[]): string[] {
      const disk = replay(data, stages);
      const folder = join(temporaryFolder(), "image");
      const losses = Array.from({ length: IMAGES_EACH }, () => LOSSES).flat();
      let line = 0;
      return stages.flatMap(({ lines, moment }) => {
        line += lines;
        disk.advance(line);
        return losses.flatMap((loss) => {
          writeImage(disk.image(loss, random), folder);
          return findFaults(folder, moment).map((fault) => `${loss.what}: ${fault}`);
        });
      });
    },
  };
}
