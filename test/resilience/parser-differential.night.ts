import { describe, expect, it } from "bun:test";
import { KNOWN } from "../support/differential/known.ts";
import { compareWithRuntime } from "../support/differential/runtime.ts";
import { compareWithLlhttp } from "../support/differential/trial.ts";
import { seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";

/** Each has two requests, on average, and the last one. */
const STREAMS = inForm(4000, 350_000);
/** Over sockets, which take longer. */
const STREAMS_OVER_SOCKETS = inForm(600, 100_000);

const seed = seedOf("parser-differential");

describe("streams of up to four requests, with odd parts anywhere", () => {
  it("are understood by the service as by llhttp, wherever they are cut: method, target, fields, body, and where it ends", async () => {
    const { accepted, refused, differences, unsteady, known } = await compareWithLlhttp({
      seed,
      streams: STREAMS,
      problemsMax: 20,
    });
    expect({ differences, unsteady }).toEqual({ differences: [], unsteady: [] });
    expect(accepted).toBeGreaterThan(STREAMS);
    expect(refused).toBeGreaterThan(STREAMS / 4);
    const unused = KNOWN.filter(({ why }) => !known.has(why));
    expect(unused).toHaveLength(inForm(unused.length, 0));
    const explained = [...known.values()].reduce((sum, count) => sum + count, 0);
    tell(
      "parser-differential",
      `${STREAMS} streams, of which we refused ${refused}; ${accepted} requests accepted, ${explained} of them known differences`,
    );
  });

  it("are understood by the service as by the runtime's server, as far as that understands them: method, body, and order", async () => {
    const { compared, differences } = await compareWithRuntime({ seed, streams: STREAMS_OVER_SOCKETS });
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(STREAMS_OVER_SOCKETS / 4);
    tell("parser-differential", `${compared} requests that the runtime's server understood, too: none of them different`);
  });
});
