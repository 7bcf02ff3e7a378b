import { compare } from "./compare.ts";
import { costOfACreate } from "./cost-of-a-create.ts";
import { transfer } from "./transfer.ts";
import { checkMachine, describeMachine, leaveProgramCore } from "./machine.ts";
import { postgres } from "./postgres.ts";
import { reads } from "./reads.ts";
import { HELP, parseSettings } from "./trade-offs.ts";
import type { Bench, PartName, Settings } from "./trade-offs.ts";
import { size } from "./size.ts";
import { start } from "./start.ts";

const RUNS = {
  compare,
  "cost-of-a-create": costOfACreate,
  reads,
  transfer,
  postgres,
  size,
  start,
} as const satisfies Record<PartName, (bench: Bench) => Promise<string>>;

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());

try {
  const settings = parseSettings(process.argv.slice(2));
  if (settings) await run(settings);
  else process.stdout.write(HELP);
} catch (reason) {
  process.stderr.write(`bench: ${stopping.signal.aborted ? "stopped" : reason instanceof Error ? reason.message : String(reason)}\n`);
  process.exit(1);
}

async function run(settings: Settings): Promise<void> {
  checkMachine();
  await leaveProgramCore();
  const note = (line: string) => process.stderr.write(`${line}\n`);
  process.stdout.write(`Machine: ${describeMachine()}\n`);
  for (const part of settings.parts) {
    const report = await RUNS[part]({ ...settings, signal: stopping.signal, note });
    process.stdout.write(`\n${report.trimEnd()}\n`);
  }
}
