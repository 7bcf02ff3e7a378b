import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../support/botanists-day.ts";
import { expectConform } from "../support/conform.ts";
import { ENGINES } from "../support/engines.ts";
import { below, openRandom, pick, seedOf } from "../support/random.ts";
import { PATIENCE } from "../support/patience.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { askUntil } from "../support/until.ts";

const SUGGESTIONS = { method: "get", path: "/plants/suggestions" };

/** Searches that find nothing, and the searches that are suggested. */
const MISTAKES: ReadonlyArray<readonly [q: string, ...suggested: string[]]> = [
  ["Quercus robor", "Quercus robur"],
  ["Quecrus robur", "Quercus robur"],
  ["Qercus robor", "Quercus robur"],
  ["Aser palmatum", "Acer palmatum"],
  ["Acer palamtum", "Acer palmatum"],
  ["lavendula", "Lavandula"],
  ["Lavvandula", "Lavandula"],
  ["lavendulla", "Lavandula"],
  ["rhododenron", "Rhododendron"],
  ["rhododendrun", "Rhododendron"],
  ["Hypericum perforratum", "Hypericum perforatum"],
  ["uva-orsi", "uva-ursi"],
  ["Crataegus crusgali", "Crataegus crus-galli"],
  ["St Jonhs wort", "St John's wort"],
  ["ohja lehua", "ʻŌhiʻa lehua"],
  ["roskastanie", "Roßkastanie"],
  ["берьоза", "Берёза"],
  ["сирен обыкновеная", "сирен обыкновенная"],
  ["xanthiom", "Xanthium"],
  ["acer ssp. califronicum", "acer ssp. californicum"],
  // What is not corrected: nothing is near, too short, a number, what no plant has together, and what is found.
  ["zzzzzzz"],
  ["abx"],
  ["1987.0009"],
  ["acer robur"],
  ["prunus serrulata"],
  ["'-"],
  [""],
];

describe.each(ENGINES)("suggestions on $engine", ({ openFlags }) => {
  let service: TestService;
  async function get<Body>(path: string): Promise<Body> {
    const response = await service.request(path);
    expect(response.status).toBe(200);
    return (await (path.startsWith(SUGGESTIONS.path) ? expectConform(SUGGESTIONS, response) : response.json())) as Body;
  }
  const suggest = (q: string, more = "") => get<string[]>(`/plants/suggestions?q=${encodeURIComponent(q)}${more}`);
  const search = (q: string, more = "") => get<object[]>(`/plants?limit=1000&q=${encodeURIComponent(q)}${more}`);

  beforeAll(async () => {
    service = await startTestService(await openFlags());
    const body = CATALOGUE.map((name, id) => JSON.stringify({ id, name, ...(id % 2 === 0 ? { tag: "even" } : {}) })).join("\n");
    await service.request("/plants/import", { method: "POST", body });
    await askUntil(
      () => search(""),
      ({ length }) => length === CATALOGUE.length,
    );
  }, 30_000 * PATIENCE);
  afterAll(() => service.stop());

  for (const [q, ...suggested] of MISTAKES)
    it(`${JSON.stringify(q)} leads to ${suggested.join(", ") || "nothing"}`, async () => {
      expect(await suggest(q)).toEqual(suggested);
      for (const other of suggested) expect(await search(other)).not.toEqual([]);
    });

  it("find every word of the catalogue again after one mistake", async () => {
    const random = openRandom(seedOf("mistakes"));
    const words = [...new Set(CATALOGUE.join(" ").match(/(?<![\p{L}'’-])[A-Za-z]{6,}(?![\p{L}'’-])/gu))];
    const missed: string[] = [];
    for (let at = 0; at < 60; at += 1) {
      const word = pick(random, words);
      const place = below(random, word.length);
      const letter = pick(random, Array.from("abcdefghijklmnopqrstuvwxyz"));
      const wrong = word.slice(0, place) + [letter, "", letter + word[place]!][at % 3]! + word.slice(place + 1);
      const found = await suggest(wrong);
      const isThere = (await search(wrong)).length > 0;
      if (isThere ? found.length > 0 : !found.some((one) => one.toLowerCase() === word.toLowerCase())) missed.push(`${wrong}: ${word}`);
    }
    expect(missed).toEqual([]);
  });

  it("look only at plants with the tag, or without one", async () => {
    expect(await suggest("lavendula", "&tag=even")).toEqual([]);
    expect(await suggest("lavendula", "&untagged=true")).toEqual(["Lavandula"]);
    expect(await search("Lavandula", "&untagged=true")).toHaveLength(1);
  });

  it("are none for long searches and words, without much work", async () => {
    for (const q of ["a".repeat(1000), "lavendula ".repeat(32), "lavendula-".repeat(9), "x'".repeat(15)])
      expect(await suggest(q)).toEqual([]);
  });
});
