import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../src/client/client.ts";
import type { Client } from "../src/client/client.ts";
import { toText as toPlantText } from "../src/domain/plant.ts";
import { watchLoop } from "../test/support/loop/loop.ts";
import type { DatabaseServer } from "../test/support/postgres/database-server.ts";
import type { Bench } from "./bench.ts";
import { withContender } from "./contenders.ts";
import { BOTH_CORES, withFolder } from "./machine.ts";
import { plantOf, randomIdOf } from "./plant-names.ts";
import { withDatabase, withServer } from "./postgres.ts";
import type { Program } from "./program.ts";
import { quantile } from "./quantile.ts";
import { inTurns, toFigureTable, toSpread, toText } from "./rounds.ts";

/** Files to import: their format, and the id of the plant with a number. */
const FILES = {
  rising: { format: "ndjson", idOf: BigInt },
  "rising, CSV": { format: "csv", idOf: BigInt },
  random: { format: "ndjson", idOf: randomIdOf },
} as const satisfies Record<string, Readonly<{ format: "ndjson" | "csv"; idOf: (number: number) => bigint }>>;
type FileName = keyof typeof FILES;

type Import = Readonly<{ file: FileName; onPostgres: boolean; isProbed: boolean }>;

/** The imports. Single requests are measured beside those that are probed. */
const IMPORTS: Readonly<Record<string, Import>> = {
  "SQLite, rising ids": { file: "rising", onPostgres: false, isProbed: true },
  "SQLite, rising ids, CSV": { file: "rising, CSV", onPostgres: false, isProbed: false },
  "SQLite, random ids": { file: "random", onPostgres: false, isProbed: true },
  "PostgreSQL, rising ids": { file: "rising", onPostgres: true, isProbed: true },
  "PostgreSQL, random ids": { file: "random", onPostgres: true, isProbed: false },
};

const ROUNDS_MAX = 3;
const PROBE_MS = 5;

/** Where a run takes the file and the database from. */
type Place = Readonly<{ folder: string; server: DatabaseServer; bench: Bench }>;

/** Imports and exports, and how they affect single requests. The service, the sender and PostgreSQL share both cores. */
export async function transfer(bench: Bench): Promise<string> {
  const rounds = Math.min(bench.rounds, ROUNDS_MAX);
  return withServer((server) =>
    withFolder(async (folder) => {
      const place = { folder, server, bench };
      for (const name of Object.keys(FILES) as FileName[]) await writeFile(name, place);
      const names = Object.keys(IMPORTS);
      const moved = await inTurns({ ...bench, rounds }, { part: "transfer", names }, (name) => move(IMPORTS[name]!, place));
      const met: Record<string, (readonly number[])[]> = {};
      const busyMs: number[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        for (const [name, row] of Object.entries(IMPORTS).filter(([, { isProbed }]) => isProbed))
          for (const [request, times] of Object.entries(await probe(row, place))) (met[`${name}: ${request}`] ??= []).push(times);
        busyMs.push(await watch(IMPORTS["SQLite, rising ids"]!, place));
      }
      return `Import and export of ${toText(bench.importPlants)} plants as NDJSON or CSV: median [min-max] of ${rounds} rounds

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

Longest time that the event loop was busy at a stretch, on SQLite, with pages, searches, tags and exports beside: ${toSpread(busyMs, 1)} ms`;
    }),
  );
}

/** The rates of an import and an export, in plants a second, and the memory of the service. */
async function move(row: Import, place: Place) {
  const { format } = FILES[row.file];
  return withService(row, place, async (client, program) => {
    const rate = await rateOf(place.bench, () => importFile(client, row, place));
    const importMemory = program.memory().peak;
    const exportRate = await rateOf(place.bench, async () => {
      for await (const _ of await client.exportPlants({ format }));
    });
    return { rate, importMemory, exportRate, exportMemory: program.memory().resident };
  });
}

/** The times of creates and reads in turns, one at a time, while an import runs, in milliseconds. */
async function probe(row: Import, place: Place) {
  const times = { create: [] as number[], "read by id": [] as number[] };
  await withService(row, place, (client) =>
    during(importFile(client, row, place), async (number) => {
      const id = -BigInt(number);
      times.create.push(await timeOf(() => client.create({ id, name: "single" })));
      times["read by id"].push(await timeOf(() => client.find(id)));
      await sleep(PROBE_MS);
    }),
  );
  return times;
}

/** All other operations, in turns, while an import runs. Returns the longest time that the event loop was busy without a break. */
async function watch(row: Import, place: Place): Promise<number> {
  const loop = watchLoop();
  const ask = async (client: Client) => {
    await client.page({ limit: 1000 });
    await client.page({ limit: 1000, tag: "houseplant" });
    await client.page({ limit: 1000, q: "ficus" });
    await client.tags();
    for await (const _ of await client.exportPlants());
  };
  await withService(row, place, (client) => during(importFile(client, row, place), () => ask(client)), loop.environment);
  return loop.longestMs();
}

/** Does something again and again while an import runs. It gets its number, from 1. */
async function during(importing: Promise<unknown>, work: (number: number) => Promise<void>): Promise<void> {
  let isRunning = true;
  async function repeat(): Promise<void> {
    for (let number = 1; isRunning; number += 1) await work(number);
  }
  const repeating = repeat();
  await importing;
  isRunning = false;
  await repeating;
}

function importFile(client: Client, { file }: Import, { folder }: Place): Promise<unknown> {
  return client.importPlants(Bun.file(join(folder, file)).stream(), { format: FILES[file].format });
}

/** Runs `work` with the service, freshly started without plants. */
async function withService<Result>(
  { onPostgres }: Import,
  { server, bench: { signal } }: Place,
  work: (client: Client, program: Program) => Promise<Result>,
  variables: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const run = (database?: string) =>
    withFolder((data) =>
      withContender("service", { data, ...(database && { database }), cores: BOTH_CORES, variables, signal }, ({ program, token }) =>
        work(createClient({ url: program.url, token, retries: 0 }), program),
      ),
    );
  return onPostgres ? withDatabase(server, run) : run();
}

async function rateOf({ importPlants }: Bench, work: () => Promise<unknown>): Promise<number> {
  return (importPlants * 1000) / (await timeOf(work));
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function writeFile(name: FileName, { folder, bench }: Place): Promise<void> {
  const { format, idOf } = FILES[name];
  const file = createWriteStream(join(folder, name));
  if (format === "csv") file.write("id,name,tag\n");
  for (let number = 1; number <= bench.importPlants; number += 1) {
    const plant = { ...plantOf(number), id: idOf(number) };
    const line = format === "csv" ? `${plant.id},${plant.name},${plant.tag ?? ""}` : toPlantText(plant);
    if (!file.write(`${line}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}
