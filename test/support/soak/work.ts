import { pick } from "../random.ts";
import type { Random } from "../random.ts";
import { toRequest } from "../raw-http.ts";
import type { Wire } from "../raw-http.ts";

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

type Ask = Readonly<{ method: string; target: string; type?: string; body?: string; bearer?: string }>;

type Asker = ReturnType<typeof createAsker>;

const WRONG_MAX = 10;

/**
 * Sends requests and collects the first wrong responses in `wrong`. Each has the token that is picked for it, unless it
 * has its own.
 */
function createAsker(pickToken: () => string) {
  const wrong: string[] = [];

  /** Status 0: the connection was cut, or no response came in time. */
  async function ask(wire: Wire, { method, target, type = "application/json", body = "", bearer = pickToken() }: Ask) {
    const request = toRequest(`${method} ${target}`, { token: bearer, fields: [`Content-Type: ${type}`], body });
    const answer = await wire.send(Buffer.from(request));
    return typeof answer === "string" ? { status: 0, text: answer } : { status: answer.status, text: answer.body.toString() };
  }

  async function expectAnswer(wire: Wire, request: Ask, status: number, expected?: string): Promise<string> {
    const got = await ask(wire, request);
    const isRight = got.status === status && (expected ?? got.text) === got.text;
    if (!isRight && wrong.length < WRONG_MAX) wrong.push(`${request.method} ${request.target}: ${got.status} ${got.text.slice(0, 300)}`);
    return got.text;
  }

  function expectPage(wire: Wire, target: string): Promise<string> {
    return expectAnswer(wire, { method: "GET", target }, 200);
  }

  return { wrong, ask, expectAnswer, expectPage };
}

type Plant = Readonly<{ id: number; name: string; tag: string }>;

/** Plants above 0 that come and go, one change of each at a time, so that the right state of each is known. */
function createGarden({ expectAnswer }: Asker, random: Random) {
  /** Plants without a request under way. */
  const idle: Plant[] = [];
  let lastId = 0;

  async function create(wire: Wire): Promise<void> {
    lastId += 1;
    const plant = { id: lastId, name: `plant ${lastId}`, tag: `tag ${lastId % 20}` };
    const { id: _, ...content } = plant;
    await expectAnswer(wire, { method: "POST", target: "/plants", body: JSON.stringify(plant) }, 200, JSON.stringify(content));
    idle.push(plant);
  }

  /** A request about the plant that has waited longest; a create if there is none. */
  async function withPlant(wire: Wire, act: (plant: Plant) => Promise<unknown>): Promise<void> {
    const plant = idle.shift();
    await (plant ? act(plant) : create(wire));
  }

  async function change(wire: Wire, method: "PUT" | "PATCH", { id, tag }: Plant): Promise<void> {
    const plant = { id, name: `plant ${id} of ${Math.trunc(random() * 1000)}`, tag };
    const body = JSON.stringify(method === "PUT" ? { name: plant.name, tag } : { name: plant.name });
    await expectAnswer(wire, { method, target: `/plants/${id}`, body }, 200, JSON.stringify(plant));
    idle.push(plant);
  }

  async function read(wire: Wire, plant: Plant): Promise<void> {
    await expectAnswer(wire, { method: "GET", target: `/plants/${plant.id}` }, 200, JSON.stringify(plant));
    idle.push(plant);
  }

  return {
    deeds: {
      create,
      read: (wire: Wire) => withPlant(wire, (plant) => read(wire, plant)),
      put: (wire: Wire) => withPlant(wire, (plant) => change(wire, "PUT", plant)),
      patch: (wire: Wire) => withPlant(wire, (plant) => change(wire, "PATCH", plant)),
      remove: (wire: Wire) => withPlant(wire, ({ id }) => expectAnswer(wire, { method: "DELETE", target: `/plants/${id}` }, 204)),
    },
    /** Those that must exist, once nothing is under way. */
    ids: () => idle.map(({ id }) => id),
  };
}
