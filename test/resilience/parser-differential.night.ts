import { describe, expect, it } from "bun:test";
import { KNOWN, findKnown, findDifference } from "../support/differential/differences.ts";
import { compareWithRuntime } from "../support/differential/runtime.ts";
import { seedOf, below, openRandom } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import type { Random } from "../support/random.ts";
import type { Difference } from "../support/differential/differences.ts";
import { openLlhttp } from "../support/differential/llhttp.ts";
import { understand } from "../support/understand.ts";
import type { Reading } from "../support/understand.ts";
import { drawStream } from "../support/differential/streams.ts";

type TrialOptions = Readonly<{
  seed: number;
  streams: number;
  /** It ends early when there are so many problems. */
  problemsMax: number;
}>;

type Trial = Readonly<{
  /** How many requests we accepted. */
  accepted: number;
  /** In how many streams we refused something. */
  refused: number;
  /** The differences that nobody has explained. */
  differences: readonly Difference[];
  /** The streams that we understand differently when they are cut. */
  unsteady: readonly string[];
  /** How often each known difference occurred, by its reason. */
  known: ReadonlyMap<string, number>;
}>;

const BATCH = 250;
/** Reads streams with our parser and with llhttp. */
async function compareWithLlhttp({ seed, streams, problemsMax }: TrialOptions): Promise<Trial> {
  const [random, llhttp] = [openRandom(seed), openLlhttp()];
  const differences: Difference[] = [];
  const unsteady: string[] = [];
  const known = new Map<string, number>();
  let [accepted, refused] = [0, 0];

  function judge(difference: Difference): void {
    const why = findKnown(difference)?.why;
    if (why === undefined) differences.push(difference);
    else known.set(why, (known.get(why) ?? 0) + 1);
  }

  for (let done = 0; done < streams && differences.length + unsteady.length < problemsMax; done += BATCH) {
    const batch = Array.from({ length: BATCH }, () => drawStream(random));
    const reading = llhttp.read(batch);
    const readings: Reading[] = [];
    for (const stream of batch) {
      const ourReading = await understand(Array.from(stream));
      if (!(await isSteady(random, stream, ourReading))) unsteady.push(stream);
      readings.push(ourReading);
    }
    for (const [number, theirs] of (await reading).entries()) {
      const { requests, refusal } = readings[number]!;
      accepted += requests.length;
      if (refusal !== undefined) refused += 1;
      const difference = findDifference(batch[number]!, requests, theirs);
      if (difference) judge(difference);
    }
  }
  llhttp.end();
  return { accepted, refused, differences, unsteady, known };
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
    tell("parser-differential", { STREAMS, refused, accepted, known: Object.fromEntries(known) });
  });

  it("are understood by the service as by the runtime's server, as far as that understands them: method, body, and order", async () => {
    const { compared, differences } = await compareWithRuntime({ seed, streams: STREAMS_OVER_SOCKETS });
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(STREAMS_OVER_SOCKETS / 4);
    tell("parser-differential", `${compared} requests that the runtime's server understood, too: none of them different`);
  });
});
