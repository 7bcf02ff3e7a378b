import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "./contenders.ts";
import { withFolder } from "./scratch.ts";
import type { Program } from "./contender-process.ts";
import type { Bench } from "./trade-offs.ts";
import { toMegabytes, toTable, toText } from "./text-table.ts";
import { runLoad } from "./wrk.ts";

type Sample = Readonly<{ second: number; bytes: number }>;

const SAMPLE_SECONDS = 5;

/** The memory of the service under load, from its start on. */
export async function memory(bench: Bench): Promise<string> {
  return withFolder(async (data) => {
    const { memorySeconds: seconds, signal } = bench;
    const { program, token } = await startService({ data, signal });
    try {
      const load = runLoad({ url: program.url, token, ids: "rising", start: 1, seconds, signal });
      const [samples, { rate }] = await Promise.all([sample(program, bench), load]);
      return toReport(samples, { rate, peakBytes: program.memory().peakBytes });
    } finally {
      await program.stop();
    }
  });
}

async function sample(program: Program, { memorySeconds, signal, note }: Bench): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let second = 0; second <= memorySeconds; second += SAMPLE_SECONDS) {
    if (second > 0) await sleep(SAMPLE_SECONDS * 1000, undefined, { signal });
    const bytes = program.memory().residentBytes;
    note(`memory: ${second} of ${memorySeconds} s: ${toText(toMegabytes(bytes))} MB`);
    samples.push({ second, bytes });
  }
  return samples;
}

function toReport(samples: readonly Sample[], { rate, peakBytes }: { rate: number; peakBytes: number }): string {
  const all = samples.map(({ bytes }) => toMegabytes(bytes));
  const rows = [
    ["second", ...samples.map(({ second }) => String(second))],
    ["MB", ...all.map((value) => toText(value))],
  ];
  const figures = [
    `highest ${toText(Math.max(...all))} MB`,
    `last ${toText(all.at(-1) ?? NaN)} MB`,
    `peak of the kernel's own count ${toText(toMegabytes(peakBytes))} MB`,
  ];
  return `Memory of the service under load (${toText(rate)} requests/s)

${toTable(rows)}

${figures.join(", ")}`;
}
