export type Coding = "br" | "gzip" | "identity" | "zstd";

/** The weight of an uncompressed body that the client did not name: accepted, but last. */
const LEAST = 0.0001;

/**
 * The coding with the highest weight, the first among equals. Uncompressed when none is accepted: everyone can read
 * that (RFC 9110, 12.5.3). `*` stands for gzip alone: Prism, a proxy that checks contracts, always sends it and reads no
 * zstd. Who reads a newer coding names it.
 */
export function chooseCoding<Choice extends Coding>(accepted: string | null, codings: readonly Choice[]): Choice | "identity" {
  if (accepted === null) return "identity";
  const weights = parseWeights(accepted);
  let best: Choice | "identity" = "identity";
  let most = weights.get("identity") ?? weights.get("*") ?? LEAST;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? (coding === "gzip" ? weights.get("*") : undefined) ?? 0;
    // At the same weight, a smaller body beats an uncompressed one.
    if (weight > most || (weight === most && weight > 0 && best === "identity")) [best, most] = [coding, weight];
  }
  return best;
}

/**
 * The media type with the highest weight; among equals the one that is named most exactly, then the first. Also the
 * first when none is accepted: a client that asks for something else by mistake can still read the response (RFC 9110,
 * 12.5.1).
 */
export function chooseType<Type extends string>(accepted: string | null, types: readonly [Type, ...Type[]]): Type {
  const weights = parseWeights(accepted ?? "*/*");
  const scores = types.map((type) => scoreOf(type, weights));
  return types[scores.indexOf(Math.max(...scores))]!;
}

function scoreOf(type: string, weights: ReadonlyMap<string, number>): number {
  const [value = ""] = type.split(";");
  const ranges = [value, value.replace(/\/.*/, "/*"), "*/*"];
  const at = ranges.findIndex((range) => weights.has(range));
  const weight = weights.get(ranges[at] ?? "") ?? 0;
  return weight === 0 ? 0 : weight - at * LEAST;
}

/**
 * Parses a list of what is accepted: each value, in lower case, with a weight from 0 to 1 (RFC 9110, 12.4.2). Ignores
 * parameters of media types.
 */
function parseWeights(list: string): Map<string, number> {
  return new Map(
    list.split(",").map((member) => {
      const [value = "", ...parameters] = member.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((part) => /^q\s*=/.test(part))?.replace(/^q\s*=/, "") ?? 1;
      return [value === "x-gzip" ? "gzip" : value, Number(weight) > 0 ? Math.min(Number(weight), 1) : 0];
    }),
  );
}
