/** How a body can be coded on its way. */
export type Coding = "br" | "gzip" | "identity" | "zstd";

/** What a client did not name it accepts too when it is plain, but last. */
const LEAST = 0.0001;

/** The coding with the highest weight, the first of equals; plain where none is accepted, as everybody can read that (RFC 9110, 12.5.3). */
export function chooseCoding<Choice extends Coding>(accepted: string | null, codings: readonly Choice[]): Choice | "identity" {
  if (accepted === null) return "identity";
  const weights = parseWeights(accepted);
  let best: Choice | "identity" = "identity";
  let most = weights.get("identity") ?? weights.get("*") ?? LEAST;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get("*") ?? 0;
    // A smaller body wins against a plain one of the same weight.
    if (weight > most || (weight === most && weight > 0 && best === "identity")) [best, most] = [coding, weight];
  }
  return best;
}

/**
 * The media type with the highest weight; of equals the one that is named most exactly, then the first. Also the first where none is accepted:
 * a client that asks for something else by mistake can still read what it gets (RFC 9110, 12.5.1).
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

/** Reads such a list: what is accepted, in lower case, with a weight from 0 to 1 (RFC 9110, 12.4.2). Parameters of media types are left aside. */
function parseWeights(list: string): Map<string, number> {
  return new Map(
    list.split(",").map((member) => {
      const [value = "", ...parameters] = member.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((part) => /^q\s*=/.test(part))?.replace(/^q\s*=/, "") ?? 1;
      return [value === "x-gzip" ? "gzip" : value, Number(weight) > 0 ? Math.min(Number(weight), 1) : 0];
    }),
  );
}
