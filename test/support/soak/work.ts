import { pick } from "../random.ts";
import type { Random } from "../random.ts";
import { toRequest } from "../raw-http.ts";
import type { Wire } from "../raw-http.ts";

type Ask = Readonly<{ type?: string; body?: string; bearer?: string; status?: number; expected?: string }>;
type Plant = Readonly<{ id: number; name: string; tag: string }>;

/** More than one token, because a token is cached for half a second. */
const TOKENS = 50;
const STRANGE_TOKENS = 500;
/** Plants that stay, below 0. */
const STOCK = 1000;
const IMPORTED = 10;
/** Has no divisor in common with the length of a round: these steps spread each kind of request evenly. */
const STRIDE = 211;
const WRONG_MAX = 10;

/** Everything that people do with a catalogue, in realistic shares, each over the given connection. */
export class Work {
  /** The first wrong responses. */
  readonly wrong: string[] = [];
  readonly #random: Random;
  readonly #tokens: string[];
  /** Plants above 0 without a request under way: there is one change of each at a time, so its right state is known. */
  readonly #idle: Plant[] = [];
  #lastId = 0;
  #done = 0;

  /** How often each is done in a round. There are as many deletes as creates, so the catalogue does not grow. */
  readonly #round: ReadonlyArray<(wire: Wire) => Promise<unknown>> = (
    [
      [100, (wire) => this.#create(wire)],
      [150, (wire) => this.#withPlant(wire, (plant) => this.#keep(wire, `GET /plants/${plant.id}`, plant))],
      [40, (wire) => this.#withPlant(wire, (plant) => this.#change(wire, "PUT", plant))],
      [35, (wire) => this.#withPlant(wire, (plant) => this.#change(wire, "PATCH", plant))],
      [100, (wire) => this.#withPlant(wire, ({ id }) => this.#ask(wire, `DELETE /plants/${id}`, { status: 204 }))],
      [20, (wire) => this.#ask(wire, `GET /plants?limit=20&after=${-this.#below(STOCK)}`)],
      [20, (wire) => this.#ask(wire, `GET /plants?limit=20&q=stock%20${this.#below(STOCK)}`)],
      [10, (wire) => this.#ask(wire, `GET /plants?limit=20&tag=tag%20${this.#below(20)}`)],
      [9, (wire) => this.#ask(wire, "GET /tags")],
      [5, (wire) => this.#importStock(wire, this.#below(STOCK / IMPORTED) * IMPORTED, IMPORTED)],
      [1, (wire) => this.#ask(wire, "GET /plants/export")],
      [10, (wire) => this.#ask(wire, "GET /tags", { bearer: `plant_${this.#below(STRANGE_TOKENS)}`, status: 401 })],
    ] as ReadonlyArray<readonly [share: number, deed: (wire: Wire) => Promise<unknown>]>
  ).flatMap(([share, deed]) => Array.from({ length: share }, () => deed));

  constructor({ token, random }: Readonly<{ token: string; random: Random }>) {
    this.#random = random;
    this.#tokens = [token];
  }

  /** Creates what the rest works with. */
  async prepare(wire: Wire): Promise<void> {
    await this.#importStock(wire, 0, STOCK);
    const [bearer] = this.#tokens;
    const body = '{"name":"one of many","scopes":["plants:read","plants:write"]}';
    while (this.#tokens.length <= TOKENS) {
      const text = await this.#ask(wire, "POST /tokens", { bearer: bearer!, body });
      this.#tokens.push((JSON.parse(text) as { token: string }).token);
    }
    // Until the stock is indexed, a search is answered 503.
    while ((await this.#send(wire, "GET /plants?q=stock", {})).status === 503) await Bun.sleep(50);
  }

  /** Does the next thing. Resolves with its response, whatever it was. */
  async next(wire: Wire): Promise<void> {
    this.#done += 1;
    await this.#round[(this.#done * STRIDE) % this.#round.length]!(wire);
  }

  /** Says in `wrong` what the catalogue lacks and what it must not have, once nothing is under way. */
  async settle(wire: Wire): Promise<void> {
    const lines = (await this.#ask(wire, "GET /plants/export")).split("\n").slice(0, -1);
    const wanted = new Set([...this.#idle.map(({ id }) => id), ...Array.from({ length: STOCK }, (_, at) => -at - 1)]);
    const strange = lines.map((line) => (JSON.parse(line) as Plant).id).filter((id) => !wanted.delete(id));
    if (strange.length + wanted.size > 0) this.wrong.push(`the catalogue has ${strange.join()} and lacks ${[...wanted].join()}`);
  }

  #below(end: number): number {
    return Math.trunc(this.#random() * end);
  }

  /** Status 0: the connection was cut, or no response came in time. */
  async #send(wire: Wire, line: string, { type = "application/json", body = "", bearer = pick(this.#random, this.#tokens) }: Ask) {
    const answer = await wire.send(Buffer.from(toRequest(line, { token: bearer, fields: [`Content-Type: ${type}`], body })));
    return typeof answer === "string" ? { status: 0, text: answer } : { status: answer.status, text: answer.body.toString() };
  }

  async #ask(wire: Wire, line: string, ask: Ask = {}): Promise<string> {
    const got = await this.#send(wire, line, ask);
    const { status = 200, expected = got.text } = ask;
    const isRight = got.status === status && expected === got.text;
    if (!isRight && this.wrong.length < WRONG_MAX) this.wrong.push(`${line}: ${got.status} ${got.text.slice(0, 300)}`);
    return got.text;
  }

  #importStock(wire: Wire, from: number, count: number): Promise<string> {
    const mark = this.#below(1000);
    const line = (_: unknown, at: number) => `{"id":${-from - at - 1},"name":"stock ${from + at} ${mark}","tag":"tag ${at % 20}"}\n`;
    const body = Array.from({ length: count }, line).join("");
    return this.#ask(wire, "POST /plants/import?onConflict=replace", { type: "application/x-ndjson", body });
  }

  async #create(wire: Wire): Promise<void> {
    this.#lastId += 1;
    const content = { name: `plant ${this.#lastId}`, tag: `tag ${this.#lastId % 20}` };
    const plant = { id: this.#lastId, ...content };
    await this.#ask(wire, "POST /plants", { body: JSON.stringify(plant), expected: JSON.stringify(content) });
    this.#idle.push(plant);
  }

  /** A request about the plant that has waited longest; a create if there is none. */
  async #withPlant(wire: Wire, act: (plant: Plant) => Promise<unknown>): Promise<void> {
    const plant = this.#idle.shift();
    await (plant ? act(plant) : this.#create(wire));
  }

  #change(wire: Wire, method: "PUT" | "PATCH", { id, tag }: Plant): Promise<void> {
    const plant = { id, name: `plant ${id} of ${this.#below(1000)}`, tag };
    return this.#keep(
      wire,
      `${method} /plants/${id}`,
      plant,
      JSON.stringify(method === "PUT" ? { name: plant.name, tag } : { name: plant.name }),
    );
  }

  /** A request after which the plant is this one. */
  async #keep(wire: Wire, line: string, plant: Plant, body = ""): Promise<void> {
    await this.#ask(wire, line, { body, expected: JSON.stringify(plant) });
    this.#idle.push(plant);
  }
}
