import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../src/client/client.ts";
import type { Client } from "../src/client/client.ts";
import { watchLoop } from "../test/support/loop/loop.ts";
import { removeTemporaryFolders } from "../test/support/temporary-folder.ts";
import type { Bench } from "./bench.ts";
import { withContender } from "./contenders.ts";
import { BOTH_CORES, LOAD_CORE, pin, withFolder } from "./machine.ts";
import { plantOf } from "./plant-names.ts";
import type { Program } from "./program.ts";
import { quantile } from "./quantile.ts";
import { inTurns, toFigureTable, toSpread, toText } from "./rounds.ts";

const FORMATS = ["ndjson", "csv"] as const;
type FileFormat = (typeof FORMATS)[number];
type Files = Readonly<Record<FileFormat, string>>;

/** Single requests while an import runs. */
const REQUESTS = ["create", "read by id"] as const;
type Request = (typeof REQUESTS)[number];

const ROUNDS_MAX = 3;
const PROBE_MS = 5;

/** Imports and exports of one file, and how they affect single requests. The service and the sender have both cores. */
export async function transfer(bench: Bench): Promise<string> {
  const rounds = Math.min(bench.rounds, ROUNDS_MAX);
  await pin(BOTH_CORES);
  try {
    return await withFolder(async (folder) => {
      const files = { ndjson: join(folder, "plants.ndjson"), csv: join(folder, "plants.csv") };
      for (const format of FORMATS) await writeFile(files[format], format, bench.importPlants);
      const moved = await inTurns({ ...bench, rounds }, { part: "transfer", names: FORMATS }, (format) => move(files, format, bench));
      const met: Record<Request, (readonly number[])[]> = { create: [], "read by id": [] };
      const busyMs: number[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        const times = await probe(files, bench);
        for (const request of REQUESTS) met[request].push(times[request]);
        busyMs.push(await watch(files, bench));
      }
      return `Import and export of ${toText(bench.importPlants)} plants: median [min-max] of ${rounds} rounds

${toFigureTable(moved, {
  "import, plants/s": [({ rate }) => rate, 0],
  "most memory MB": [({ importMemory }) => importMemory, 0],
  "export, plants/s": [({ exportRate }) => exportRate, 0],
  "memory MB": [({ exportMemory }) => exportMemory, 0],
})}

Single requests while such an import runs, one at a time

${toFigureTable(met, {
  "p50 ms": [(times) => quantile(times, 0.5), 1],
  "p99 ms": [(times) => quantile(times, 0.99), 1],
  "longest ms": [(times) => quantile(times, 1), 1],
  requests: [(times) => times.length, 0],
})}

Longest time that the event loop was busy at a stretch, with pages, searches, tags and exports beside: ${toSpread(busyMs, 1)} ms`;
    });
  } finally {
    removeTemporaryFolders();
    await pin(LOAD_CORE);
  }
}

/** The rates of one file, in plants a second, and the memory of the service. */
async function move(files: Files, format: FileFormat, bench: Bench) {
  return withService(bench, async (client, program) => {
    const rate = await rateOf(bench, () => client.importPlants(Bun.file(files[format]).stream(), { format }));
    const importMemory = program.memory().peak;
    const exportRate = await rateOf(bench, async () => {
      for await (const _ of await client.exportPlants({ format }));
    });
    return { rate, importMemory, exportRate, exportMemory: program.memory().resident };
  });
}

/** The times of creates and reads in turns, one at a time, while an import runs, in milliseconds. */
async function probe({ ndjson }: Files, bench: Bench): Promise<Readonly<Record<Request, readonly number[]>>> {
  const times: Record<Request, number[]> = { create: [], "read by id": [] };
  await withService(bench, (client) =>
    duringImport(client, ndjson, async (number) => {
      const id = -BigInt(number);
      times.create.push(await timeOf(() => client.create({ id, name: "single" })));
      times["read by id"].push(await timeOf(() => client.find(id)));
      await sleep(PROBE_MS);
    }),
  );
  return times;
}

/** All other operations, in turns, while an import runs. Returns the longest time that the event loop was busy without a break. */
async function watch({ ndjson }: Files, bench: Bench): Promise<number> {
  const loop = watchLoop();
  const ask = async (client: Client) => {
    await client.page({ limit: 1000 });
    await client.page({ limit: 1000, tag: "houseplant" });
    await client.page({ limit: 1000, q: "ficus" });
    await client.tags();
    for await (const _ of await client.exportPlants());
  };
  await withService(bench, (client) => duringImport(client, ndjson, () => ask(client)), loop.environment);
  return loop.longestMs();
}

/** Does something again and again while an import runs. It gets its number, from 1. */
async function duringImport(client: Client, file: string, work: (number: number) => Promise<void>): Promise<void> {
  let isRunning = true;
  async function repeat(): Promise<void> {
    for (let number = 1; isRunning; number += 1) await work(number);
  }
  const repeating = repeat();
  await client.importPlants(Bun.file(file).stream(), { format: "ndjson" });
  isRunning = false;
  await repeating;
}

async function withService<Result>(
  { signal }: Bench,
  work: (client: Client, program: Program) => Promise<Result>,
  variables: Readonly<Record<string, string>> = {},
): Promise<Result> {
  return withFolder((data) =>
    withContender("service", { data, cores: BOTH_CORES, variables, signal }, ({ program, token }) =>
      work(createClient({ url: program.url, token, retries: 0 }), program),
    ),
  );
}

async function rateOf({ importPlants }: Bench, work: () => Promise<unknown>): Promise<number> {
  return (importPlants * 1000) / (await timeOf(work));
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function writeFile(path: string, format: FileFormat, plants: number): Promise<void> {
  const file = createWriteStream(path);
  if (format === "csv") file.write("id,name,tag\n");
  for (let id = 1; id <= plants; id += 1) {
    const plant = plantOf(id);
    const line = format === "csv" ? `${id},${plant.name},${plant.tag ?? ""}` : JSON.stringify({ ...plant, id });
    if (!file.write(`${line}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}
