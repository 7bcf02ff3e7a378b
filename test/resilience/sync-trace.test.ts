import { afterEach, expect } from "bun:test";
import { plantOf, startFlood } from "../support/flood.ts";
import { needs } from "../support/program.ts";
import { killServices, startTraced } from "../support/service-process.ts";
import { until } from "../support/until.ts";
import { answeredIn, findUnsynced, parseTrace } from "../support/trace.ts";

afterEach(killServices);

needs("strace").it(
  "each of 300 and more responses 200 is sent only after the plant's commit was written to the WAL and then synced",
  async () => {
    const service = await startTraced();
    const flood = startFlood({ ...service, firstId: 1000n, clients: 8 });
    await until("Some plants are answered", () => flood.count() >= 400);
    const names = (await flood.stop()).answered.map((id) => plantOf(id).name);
    expect(await service.end("SIGTERM")).toBe(0);
    const calls = parseTrace(await service.trace());
    expect(answeredIn(calls, names)).toEqual(names);
    expect(findUnsynced(calls, names)).toEqual([]);
  },
);
