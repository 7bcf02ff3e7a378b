import { helpFor, parseSettings } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { compare } from "./compare.ts";
import { costOfACreate } from "./cost-of-a-create.ts";
import { listeners } from "./listeners.ts";
import { checkMachine, describeMachine, LOAD_CORE, pin } from "./machine.ts";
import { postgres } from "./postgres.ts";
import { reads } from "./reads.ts";
import { size } from "./size.ts";
import { start } from "./start.ts";
import { transfer } from "./transfer.ts";

const RUNS = { compare, "cost-of-a-create": costOfACreate, reads, transfer, postgres, listeners, size, start };
const PARTS = Object.keys(RUNS) as (keyof typeof RUNS)[];

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());

try {
  await run();
} catch (reason) {
  process.stderr.write(`bench: ${stopping.signal.aborted ? "stopped" : reason instanceof Error ? reason.message : String(reason)}\n`);
  process.exit(1);
}

async function run(): Promise<void> {
  const settings = parseSettings(process.argv.slice(2), PARTS);
  if (!settings) return void process.stdout.write(helpFor(PARTS));
  checkMachine();
  await pin(LOAD_CORE);
  process.stdout.write(`Machine: ${describeMachine()}\n`);
  const bench: Bench = { ...settings, signal: stopping.signal, note: (line) => process.stderr.write(`${line}\n`) };
  for (const part of settings.parts) process.stdout.write(`\n${(await RUNS[part](bench)).trimEnd()}\n`);
}
