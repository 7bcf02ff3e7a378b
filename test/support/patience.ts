import { availableParallelism, loadavg } from "node:os";
import { plugin } from "bun";

/** What tests beside each other put on a processor. */
const USUAL_LOAD = 4;

/** By which the processes that a test starts are as patient as it is. */
const VARIABLE = "TEST_PATIENCE";

/** How many times as long a wait may take as on a machine that other programs leave alone, by the load of the last minute. */
export const PATIENCE = Number(process.env[VARIABLE] ?? Math.max(1, loadavg()[0]! / availableParallelism() / USUAL_LOAD));
process.env[VARIABLE] = String(PATIENCE);

/** They end a wait for a server, a statement or a client. A pause is no limit, nor is how far a clock may be off; how long a start waits is logged. */
const LIMIT = /^((?:export )?const (?!PAUSE|CLOCK|START)\w+_(?:MS_MAX|STATEMENT_MS|RETRY_MS) = )([\d_]+)(?=;)/gm;

/**
 * Makes the limits of a service in this process as much longer: a busy machine must not make it refuse what it would do
 * alone. What is promised within a time is measured with a patient clock, which goes as much slower.
 */
export function stretchLimits(): void {
  if (PATIENCE === 1) return;
  plugin({
    name: "patience",
    setup(build) {
      build.onLoad({ filter: /\/src\/(store|http)\/.*\.ts$/ }, async ({ path }) => ({
        contents: (await Bun.file(path).text()).replaceAll(LIMIT, (_, start: string, ms: string) => `${start}${ms} * ${PATIENCE}`),
        loader: "ts",
      }));
    },
  });
}
