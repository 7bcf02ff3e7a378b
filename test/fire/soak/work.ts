import { pick } from "../../random.ts";
import type { Random } from "../../random.ts";
import type { Wire } from "../wire.ts";

/** Everything that people do with a catalogue, in the shares in which it is done, each over the connection that it is given. */
export type Work = Readonly<{
  /** Creates what the rest works with. */
  prepare(wire: Wire): Promise<void>;
  /** Does the next thing. Resolves with its answer, whatever it was. */
  next(wire: Wire): Promise<void>;
  /** The first answers that were not as they must be. */
  wrong: readonly string[];
  /** Says in `wrong` what the catalogue has that it must not have, and the other way round, once nothing is under way. */
  settle(wire: Wire): Promise<void>;
}>;

type Plant = Readonly<{ id: number; name: string; tag: string }>;
type Ask = Readonly<{ method: string; target: string; type?: string; body?: string; bearer?: string }>;

/** How often each is done in a round. What is created is deleted as often, so the catalogue does not grow. */
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
/** Has no divisor in common with the length of a round: in these steps each deed has its turns, evenly spread. */
const STRIDE = 211;
/** More tokens than one, as the gate remembers a token for half a second. */
const TOKENS = 50;
const STRANGE_TOKENS = 500;
/** Plants that stay, below 0, and as many that come and go, above. */
const STOCK = 1000;
const IMPORTED = 10;
const WRONG_MAX = 10;

export function createWork({ token, random }: Readonly<{ token: string; random: Random }>): Work {
  const tokens = [token];
  const wrong: string[] = [];
  /** Plants that no request is about just now: so it is known what each must be. */
  const idle: Plant[] = [];
  let lastId = 0;
  let done = 0;

  async function ask(wire: Wire, { method, target, type = "application/json", body = "", bearer = pick(random, tokens) }: Ask) {
    const lines = [`${method} ${target} HTTP/1.1`, "Host: plants", `Authorization: Bearer ${bearer}`, `Content-Type: ${type}`];
    const answer = await wire.send(Buffer.from(`${lines.join("\r\n")}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`));
    return typeof answer === "string" ? { status: 0, text: answer } : { status: answer.status, text: answer.body.toString() };
  }

  async function expectAnswer(wire: Wire, request: Ask, status: number, expected?: string): Promise<string> {
    const got = await ask(wire, request);
    const isRight = got.status === status && (expected ?? got.text) === got.text;
    if (!isRight && wrong.length < WRONG_MAX) wrong.push(`${request.method} ${request.target}: ${got.status} ${got.text.slice(0, 300)}`);
    return got.text;
  }

  function get(wire: Wire, target: string): Promise<string> {
    return expectAnswer(wire, { method: "GET", target }, 200);
  }

  function importStock(wire: Wire, from: number, count: number): Promise<string> {
    const mark = Math.trunc(random() * 1000);
    const lines = Array.from(
      { length: count },
      (_, at) => `{"id":${-from - at - 1},"name":"stock ${from + at} ${mark}","tag":"tag ${at % 20}"}\n`,
    );
    const target = "/plants/import?onConflict=replace";
    return expectAnswer(wire, { method: "POST", target, type: "application/x-ndjson", body: lines.join("") }, 200);
  }

  async function create(wire: Wire): Promise<void> {
    lastId += 1;
    const plant = { id: lastId, name: `plant ${lastId}`, tag: `tag ${lastId % 20}` };
    const { id: _, ...content } = plant;
    await expectAnswer(wire, { method: "POST", target: "/plants", body: JSON.stringify(plant) }, 200, JSON.stringify(content));
    idle.push(plant);
  }

  /** Something with the plant that waits longest; without one there is nothing but to create it. */
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

  const deeds: Readonly<Record<Deed, (wire: Wire) => Promise<unknown>>> = {
    create,
    read: (wire) => withPlant(wire, (plant) => read(wire, plant)),
    put: (wire) => withPlant(wire, (plant) => change(wire, "PUT", plant)),
    patch: (wire) => withPlant(wire, (plant) => change(wire, "PATCH", plant)),
    remove: (wire) => withPlant(wire, ({ id }) => expectAnswer(wire, { method: "DELETE", target: `/plants/${id}` }, 204)),
    page: (wire) => get(wire, `/plants?limit=20&after=${-Math.trunc(random() * STOCK)}`),
    search: (wire) => get(wire, `/plants?limit=20&q=stock%20${Math.trunc(random() * STOCK)}`),
    byTag: (wire) => get(wire, `/plants?limit=20&tag=tag%20${Math.trunc(random() * 20)}`),
    countTags: (wire) => get(wire, "/tags"),
    importFile: (wire) => importStock(wire, Math.trunc((random() * STOCK) / IMPORTED) * IMPORTED, IMPORTED),
    exportFile: (wire) => get(wire, "/plants/export"),
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
      // Until the search has taken in the stock, a search is answered 503.
      while ((await ask(wire, { method: "GET", target: "/plants?q=stock" })).status === 503) await Bun.sleep(50);
    },
    async next(wire) {
      done += 1;
      await deeds[ROUND[(done * STRIDE) % ROUND.length]!](wire);
    },
    async settle(wire) {
      const ids = (await get(wire, "/plants/export"))
        .split("\n")
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as Plant).id);
      const wanted = new Set([...idle.map(({ id }) => id), ...Array.from({ length: STOCK }, (_, at) => -at - 1)]);
      const strange = ids.filter((id) => !wanted.delete(id));
      if (strange.length + wanted.size > 0) wrong.push(`the catalogue has ${strange.join()} and lacks ${[...wanted].join()}`);
    },
  };
}
