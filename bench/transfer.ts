import { createWriteStream, readFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../src/client/client.ts";
import type { Client } from "../src/client/client.ts";
import { startService, startWatched } from "./contenders.ts";
import { plantOf } from "./plant-names.ts";
import { withFolder } from "./scratch.ts";
import { BOTH_CORES, leaveProgramCore, takeBothCores } from "./machine.ts";
import { quantile } from "./quantile.ts";
import type { Bench } from "./trade-offs.ts";
import { toMegabytes, toSpread, toTable, toText } from "./text-table.ts";

type FileFormat = "ndjson" | "csv";

/** The figures of one file. Rates are plants a second, memory is the peak of the service. */
type Moved = Readonly<{ importRate: number; exportRate: number; importBytes: number; exportBytes: number }>;

/** The times of single requests during an import, in milliseconds. */
type Met = Readonly<{ createMs: readonly number[]; readMs: readonly number[] }>;

const ROUNDS_MAX = 3;
const PROBE_MS = 5;

/** Imports and exports of one file, and how they affect single requests. The service and the sender have both cores. */
export async function transfer(bench: Bench): Promise<string> {
  const { importPlants: plants, note } = bench;
  await takeBothCores();
  try {
    return await withFolder(async (folder) => {
      const files = { ndjson: join(folder, "plants.ndjson"), csv: join(folder, "plants.csv") };
      for (const format of ["ndjson", "csv"] as const) await writeFile(files[format], { format, plants });
      const moved: Record<FileFormat, Moved[]> = { ndjson: [], csv: [] };
      const met: Met[] = [];
      const busyMs: number[] = [];
      for (let round = 1; round <= Math.min(bench.rounds, ROUNDS_MAX); round += 1) {
        for (const format of ["ndjson", "csv"] as const) moved[format].push(await move(files[format], { format, bench }));
        met.push(await probe(files.ndjson, bench));
        busyMs.push(await watch(files.ndjson, bench));
        note(`transfer: round ${round}: ${toText(moved.ndjson.at(-1)?.importRate ?? 0)} plants/s in`);
      }
      return `${toReport(moved, met, plants)}

Longest time that the event loop was busy at a stretch, with pages, searches, tags and exports beside: ${toSpread(busyMs, 1)} ms`;
    });
  } finally {
    await leaveProgramCore();
  }
}

async function move(file: string, { format, bench }: { format: FileFormat; bench: Bench }): Promise<Moved> {
  return withService(bench, async (client, program) => {
    const importRate = await rateOf(bench.importPlants, () => client.importPlants(Bun.file(file).stream(), { format }));
    const importBytes = program.memory().peakBytes;
    const exportRate = await rateOf(bench.importPlants, async () => {
      for await (const _ of await client.exportPlants({ format }));
    });
    return { importRate, importBytes, exportRate, exportBytes: program.memory().residentBytes };
  });
}

/** Creates and reads in turns, one at a time, while an import runs. */
async function probe(file: string, bench: Bench): Promise<Met> {
  return withService(bench, async (client) => {
    const met = { createMs: [] as number[], readMs: [] as number[] };
    let isRunning = true;
    async function ask(): Promise<void> {
      for (let id = -1n; isRunning; id -= 1n) {
        met.createMs.push(await timeOf(() => client.create({ id, name: "single" })));
        met.readMs.push(await timeOf(() => client.find(id)));
        await sleep(PROBE_MS);
      }
    }
    const asking = ask();
    await client.importPlants(Bun.file(file).stream(), { format: "ndjson" });
    isRunning = false;
    await asking;
    return met;
  });
}

/** All other operations, in turns, while an import runs. Returns the longest time that the event loop was busy without a break. */
async function watch(file: string, { signal }: Bench): Promise<number> {
  return withFolder(async (data) => {
    const { program, token } = await startWatched({ data, cores: BOTH_CORES, signal });
    try {
      const client = createClient({ url: program.url, token, retries: 0 });
      let isRunning = true;
      async function ask(): Promise<void> {
        while (isRunning) {
          await client.page({ limit: 1000 });
          await client.page({ limit: 1000, tag: "houseplant" });
          await client.page({ limit: 1000, q: "ficus" });
          await client.tags();
          for await (const _ of await client.exportPlants()) if (!isRunning) break;
        }
      }
      const asking = ask();
      await client.importPlants(Bun.file(file).stream(), { format: "ndjson" });
      isRunning = false;
      await asking;
    } finally {
      await program.stop();
    }
    return Number(readFileSync(join(data, "busy-ms"), "utf8"));
  });
}

type Program = Awaited<ReturnType<typeof startService>>["program"];

async function withService<Result>({ signal }: Bench, work: (client: Client, program: Program) => Promise<Result>): Promise<Result> {
  return withFolder(async (data) => {
    const { program, token } = await startService({ data, cores: BOTH_CORES, signal });
    try {
      return await work(createClient({ url: program.url, token, retries: 0 }), program);
    } finally {
      await program.stop();
    }
  });
}

async function rateOf(plants: number, work: () => Promise<unknown>): Promise<number> {
  return (plants * 1000) / (await timeOf(work));
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function writeFile(path: string, { format, plants }: { format: FileFormat; plants: number }): Promise<void> {
  const file = createWriteStream(path);
  if (format === "csv") file.write("id,name,tag\n");
  for (let id = 1; id <= plants; id += 1) {
    const plant = plantOf(id);
    const line =
      format === "csv"
        ? `${id},${plant.name},${plant.tag ?? ""}
`
        : `${JSON.stringify({ ...plant, id })}
`;
    if (!file.write(line)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}

function toReport(moved: Readonly<Record<FileFormat, readonly Moved[]>>, met: readonly Met[], plants: number): string {
  const rows = (["ndjson", "csv"] as const).map((format) => [
    format,
    toSpread(moved[format].map(({ importRate }) => importRate)),
    toSpread(moved[format].map(({ importBytes }) => toMegabytes(importBytes))),
    toSpread(moved[format].map(({ exportRate }) => exportRate)),
    toSpread(moved[format].map(({ exportBytes }) => toMegabytes(exportBytes))),
  ]);
  const single = (["createMs", "readMs"] as const).map((what) => [
    what === "createMs" ? "create" : "read by id",
    ...[0.5, 0.99, 1].map((share) =>
      toSpread(
        met.map((one) => quantile(one[what], share)),
        1,
      ),
    ),
    toText(met.reduce((sum, one) => sum + one[what].length, 0)),
  ]);
  return `Import and export of ${toText(plants)} plants: median [min-max] of ${moved.csv.length} rounds

${toTable([["format", "import, plants/s", "most memory MB", "export, plants/s", "memory MB"], ...rows])}

Single requests while such an import runs, one at a time

${toTable([["request", "p50 ms", "p99 ms", "longest ms", "requests"], ...single])}`;
}
