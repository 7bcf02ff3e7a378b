import { cpuSecondsOf } from "../../../bench/cputime.ts";
import type { Engine } from "../engines.ts";
import { openRandom } from "../random.ts";
import { startOn } from "../service-process.ts";
import { openWire } from "../raw-http.ts";
import { startPace } from "./steady-rate.ts";
import type { Pace } from "./steady-rate.ts";
import { createWork } from "./work.ts";

/** The p99, and the processor time of each request, in milliseconds. */
export type Pulse = Readonly<{ p99Ms: number; cpuMs: number }>;

export type Subject = Awaited<ReturnType<typeof startSubject>>;

/** A new service, and the work that can be done on it. */
export async function startSubject({ engine, seed }: Readonly<{ engine: Engine; seed: number }>) {
  const service = await startOn(engine);
  const work = createWork({ token: service.token, random: openRandom(seed) });
  const wire = openWire(service.url);
  await work.prepare(wire);
  return {
    service,
    wrong: work.wrong,
    start: (perSecond: number) => startLoad(startPace({ url: service.url, perSecond, work }), service.pid),
    /** Says in `wrong` what is wrong with the catalogue, and resolves with the exit status. */
    async end(): Promise<number | null> {
      await work.settle(wire);
      wire.close();
      return service.end("SIGTERM");
    },
  };
}

/** Work at a fixed rate, and what it costs the process. */
function startLoad({ answered, takeP99Ms, stop }: Pace, pid: number) {
  const read = () => ({ answered: answered(), cpuSeconds: cpuSecondsOf(pid) });
  let before = read();
  return {
    answered,
    stop,
    /** Since the last call. */
    takePulse(): Pulse {
      const now = read();
      const cpuMs = (1000 * (now.cpuSeconds - before.cpuSeconds)) / (now.answered - before.answered);
      before = now;
      return { p99Ms: takeP99Ms(), cpuMs };
    },
  };
}
