import { pick } from "../random.ts";
import type { Random } from "../random.ts";
import type { Wire } from "../raw-http.ts";
import { createAsker } from "./asker.ts";
import { createGarden } from "./garden.ts";

/** Everything that people do with a catalogue, in realistic shares, each over the given connection. */
export type Work = Readonly<{
  /** Creates what the rest works with. */
  prepare(wire: Wire): Promise<void>;
  /** Does the next thing. Resolves with its response, whatever it was. */
  next(wire: Wire): Promise<void>;
  /** The first wrong responses. */
  wrong: readonly string[];
  /** Says in `wrong` what the catalogue lacks and what it must not have, once nothing is under way. */
  settle(wire: Wire): Promise<void>;
}>;

/** How often each is done in a round. There are as many deletes as creates, so the catalogue does not grow. */
const SHARES = {
  create: 100,
  read: 150,
  put: 40,
  patch: 35,
  remove: 100,
  page: 20,
  search: 20,
  byTag: 10,
  countTags: 9,
  importFile: 5,
  exportFile: 1,
  strangeToken: 10,
} as const;

type Deed = keyof typeof SHARES;

const ROUND = Object.entries(SHARES).flatMap(([deed, share]) => Array.from({ length: share }, () => deed as Deed));
/** Has no divisor in common with the length of a round: these steps spread each kind of request evenly. */
const STRIDE = 211;
/** More than one token, because a token is cached for half a second. */
const TOKENS = 50;
const STRANGE_TOKENS = 500;
/** Plants that stay, below 0. */
const STOCK = 1000;
const IMPORTED = 10;

export function createWork({ token, random }: Readonly<{ token: string; random: Random }>): Work {
  const tokens = [token];
  const asker = createAsker(() => pick(random, tokens));
  const { wrong, ask, expectAnswer, expectPage } = asker;
  const garden = createGarden(asker, random);
  let done = 0;

  function importStock(wire: Wire, from: number, count: number): Promise<string> {
    const mark = Math.trunc(random() * 1000);
    const lines = Array.from(
      { length: count },
      (_, at) => `{"id":${-from - at - 1},"name":"stock ${from + at} ${mark}","tag":"tag ${at % 20}"}\n`,
    );
    const target = "/plants/import?onConflict=replace";
    return expectAnswer(wire, { method: "POST", target, type: "application/x-ndjson", body: lines.join("") }, 200);
  }

  const deeds: Readonly<Record<Deed, (wire: Wire) => Promise<unknown>>> = {
    ...garden.deeds,
    page: (wire) => expectPage(wire, `/plants?limit=20&after=${-Math.trunc(random() * STOCK)}`),
    search: (wire) => expectPage(wire, `/plants?limit=20&q=stock%20${Math.trunc(random() * STOCK)}`),
    byTag: (wire) => expectPage(wire, `/plants?limit=20&tag=tag%20${Math.trunc(random() * 20)}`),
    countTags: (wire) => expectPage(wire, "/tags"),
    importFile: (wire) => importStock(wire, Math.trunc((random() * STOCK) / IMPORTED) * IMPORTED, IMPORTED),
    exportFile: (wire) => expectPage(wire, "/plants/export"),
    strangeToken: (wire) =>
      expectAnswer(wire, { method: "GET", target: "/tags", bearer: `plant_${Math.trunc(random() * STRANGE_TOKENS)}` }, 401),
  };

  return {
    wrong,
    async prepare(wire) {
      await importStock(wire, 0, STOCK);
      for (let count = 0; count < TOKENS; count += 1) {
        const text = await expectAnswer(
          wire,
          { method: "POST", target: "/tokens", body: '{"name":"one of many","scopes":["plants:read","plants:write"]}', bearer: token },
          200,
        );
        tokens.push((JSON.parse(text) as { token: string }).token);
      }
      // Until the stock is indexed, a search is answered 503.
      while ((await ask(wire, { method: "GET", target: "/plants?q=stock" })).status === 503) await Bun.sleep(50);
    },
    async next(wire) {
      done += 1;
      await deeds[ROUND[(done * STRIDE) % ROUND.length]!](wire);
    },
    async settle(wire) {
      const ids = (await expectPage(wire, "/plants/export"))
        .split("\n")
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as { id: number }).id);
      const wanted = new Set([...garden.ids(), ...Array.from({ length: STOCK }, (_, at) => -at - 1)]);
      const strange = ids.filter((id) => !wanted.delete(id));
      if (strange.length + wanted.size > 0) wrong.push(`the catalogue has ${strange.join()} and lacks ${[...wanted].join()}`);
    },
  };
}
