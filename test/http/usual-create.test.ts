import { expect, it } from "bun:test";
import { createPlant } from "../../contract/generated/bodies.ts";
import { PlantStoreError } from "../../src/domain/errors.ts";
import { parseBody } from "../../src/http/request-body.ts";
import { decodeBody, parseJson } from "../../src/domain/json.ts";
import { checkBody } from "../../src/domain/validation.ts";
import { below, openRandom, partsOf, pick, seedOf } from "../support/random.ts";

const IDS = partsOf(`0|-0|7|-7|07|1.0|1e3|9007199254740993|999999999999999999|9223372036854775807|9223372036854775808|"7"|null`);
const TEXTS = [
  ...partsOf(String.raw`Rosa|Ficus é|🌱|a\nb|a\u0041|\ud800|\\|\"|a,"b"|{}`),
  ...partsOf("x".repeat(3000) + "||a\u0001b|a\tb|a\nb|a\u001fb|a\u007fb|\u2028|\ufeff"),
];
const SPACES = ["", "", "", " ", "  ", "\n"];

/** What a way to parse makes of a text: the value, or the name of the error. */
function outcomeOf(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (thrown) {
    if (thrown instanceof PlantStoreError) return `${thrown.code}: ${thrown.message}`;
    throw thrown;
  }
}

it("a create that is read in one pass gives what the general way gives, for 50,000 bodies of and near the usual form", () => {
  const random = openRandom(seedOf("usual create"));
  const space = () => pick(random, SPACES);
  const chance = (share: number) => random() < share;
  const text = () => `"${pick(random, TEXTS)}"`;
  const member = (key: string, value: string) => `"${key}"${space()}:${space()}${value}`;
  let plants = 0;
  for (let count = 0; count < 50_000; count += 1) {
    const members = [member("id", pick(random, IDS)), member("name", text()), ...(chance(0.5) ? [member("tag", text())] : [])];
    if (chance(0.2)) members.push(member(pick(random, ["id", "name", "tag", "more"]), text()));
    if (chance(0.2)) members.reverse();
    const bytes = Buffer.from(`${space()}{${space()}${members.join(`,${space()}`)}${space()}}${space()}`);
    if (chance(0.2)) bytes[below(random, bytes.length)] = below(random, 256);
    const general = outcomeOf(() => checkBody(createPlant, parseJson(decodeBody(bytes))));
    if (typeof general === "object") plants += 1;
    expect(outcomeOf(() => parseBody(createPlant, bytes))).toEqual(general);
  }
  // Both plants and refusals.
  expect(plants).toBeGreaterThan(1000);
});
