import { describe, expect, it } from "bun:test";
import { findDifference, findKnown, KNOWN } from "../support/differential/differences.ts";
import type { Difference } from "../support/differential/differences.ts";
import { openLlhttp } from "../support/differential/llhttp.ts";
import { compareWithRuntime } from "../support/differential/runtime.ts";
import { drawStream } from "../support/differential/streams.ts";
import { below, openRandom, seedOf } from "../support/random.ts";
import type { Random } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { understand } from "../support/understand.ts";
import type { Reading } from "../support/understand.ts";

/** Each has two requests, on average, and the last one. */
const STREAMS = inForm(4000, 350_000);
/** Over sockets, which take longer. */
const STREAMS_OVER_SOCKETS = inForm(600, 100_000);
const BATCH = 250;
/** With so many a run ends early. */
const PROBLEMS_MAX = 20;

const seed = seedOf("parser-differential");

/** Reads streams with our parser and with llhttp. */
async function compareWithLlhttp() {
  const [random, llhttp] = [openRandom(seed), openLlhttp()];
  const unexplained: Difference[] = [];
  /** The streams that we understand differently when they are cut. */
  const unsteady: string[] = [];
  const known = new Set<string>();
  let [accepted, refused] = [0, 0];
  for (let done = 0; done < STREAMS && unexplained.length + unsteady.length < PROBLEMS_MAX; done += BATCH) {
    const batch = Array.from({ length: BATCH }, () => drawStream(random));
    const reading = llhttp.read(batch);
    const ours: Reading[] = [];
    for (const stream of batch) {
      const understood = await understand(Array.from(stream));
      if (!(await isSteady(random, stream, understood))) unsteady.push(stream);
      ours.push(understood);
    }
    for (const [number, theirs] of (await reading).entries()) {
      const { requests, refusal } = ours[number]!;
      accepted += requests.length;
      if (refusal !== undefined) refused += 1;
      const difference = findDifference(batch[number]!, requests, theirs);
      const why = difference && findKnown(difference)?.why;
      if (why !== undefined) known.add(why);
      else if (difference) unexplained.push(difference);
    }
  }
  llhttp.end();
  return { accepted, refused, unexplained, unsteady, known };
}

/** Whether a stream in one packet, and in two or three, is understood as byte by byte. */
async function isSteady(random: Random, stream: string, reading: Reading): Promise<boolean> {
  const cuts = [below(random, stream.length + 1), below(random, stream.length + 1)].toSorted((a, b) => a - b);
  const pieces = [stream.slice(0, cuts[0]), stream.slice(cuts[0], cuts[1]), stream.slice(cuts[1])];
  const want = toText(reading);
  return toText(await understand([stream])) === want && toText(await understand(pieces)) === want;
}

/** All but when a request was complete. */
function toText({ requests, refusal }: Reading): string {
  const parts = requests.map(({ method, path, query, authority, body, end }) => [method, path, query, authority, body, end === undefined]);
  return JSON.stringify([parts, refusal]);
}

describe("streams of up to four requests, with odd parts anywhere", () => {
  it("are understood by the service as by llhttp, wherever they are cut: method, target, fields, body, and where it ends", async () => {
    const { accepted, refused, unexplained, unsteady, known } = await compareWithLlhttp();
    expect({ unexplained, unsteady }).toEqual({ unexplained: [], unsteady: [] });
    expect(accepted).toBeGreaterThan(STREAMS);
    expect(refused).toBeGreaterThan(STREAMS / 4);
    const unused = KNOWN.filter(({ why }) => !known.has(why));
    expect(unused).toHaveLength(inForm(unused.length, 0));
    tell("parser-differential", { STREAMS, refused, accepted });
  });

  it("are understood by the service as by the runtime's server, as far as that understands them: method, body, and order", async () => {
    const { compared, differences } = await compareWithRuntime({ seed, streams: STREAMS_OVER_SOCKETS });
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(STREAMS_OVER_SOCKETS / 4);
    tell("parser-differential with the runtime's server", { compared });
  });
});
