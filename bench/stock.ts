import { createClient } from "../src/client/client.ts";
import type { Plant } from "../src/client/client.ts";
import type { Bench } from "./bench.ts";
import { withContender } from "./contenders.ts";
import { BOTH_CORES } from "./machine.ts";
import { plantOf } from "./plant-names.ts";
import { toText } from "./rounds.ts";

type Stock = Readonly<{
  plants: number;
  /** The distance from one id to the next. */
  step: bigint;
  bench: Bench;
}>;

const NOTE_EVERY = 500_000;

/** Makes a data folder with many plants. An import waits for the search index, so that is complete too. */
export async function fillStore(data: string, { plants, step, bench }: Stock): Promise<void> {
  function* all(): Generator<Plant, void, void> {
    for (let number = 1; number <= plants; number += 1) {
      yield { ...plantOf(number), id: BigInt(number) * step };
      if (number % NOTE_EVERY === 0) bench.note(`stock: ${toText(number)} of ${toText(plants)} plants`);
    }
  }
  await withContender("service", { data, cores: BOTH_CORES, signal: bench.signal }, ({ program: { url }, token }) =>
    createClient({ url, token }).importPlants(all(), { signal: bench.signal }),
  );
}
