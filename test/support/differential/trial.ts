import { below, openRandom } from "../random.ts";
import type { Random } from "../random.ts";
import { findDifference } from "./differences.ts";
import type { Difference } from "./differences.ts";
import { findKnown } from "./known.ts";
import { openLlhttp } from "./llhttp.ts";
import { understand } from "../understand.ts";
import type { Reading } from "../understand.ts";
import { drawStream } from "./streams.ts";

type TrialOptions = Readonly<{
  seed: number;
  streams: number;
  /** It ends early when there are so many problems. */
  problemsMax: number;
}>;

export type Trial = Readonly<{
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
export async function compareWithLlhttp({ seed, streams, problemsMax }: TrialOptions): Promise<Trial> {
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
