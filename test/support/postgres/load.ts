import { queryOnce } from "./database-server.ts";

/** What the clients of a load know. */
export type Journal = Readonly<{
  /** The number of responses by status. */
  statuses: ReadonlyMap<number, number>;
  /** What must never happen: another status, a 503 without Retry-After, a wrong plant. */
  wrong: readonly string[];
  /** By id, the last plant answered 200. */
  answered: ReadonlyMap<bigint, string>;
  /** By id, all names ever sent. */
  sent: ReadonlyMap<bigint, ReadonlySet<string>>;
}>;

type LoadOptions = Readonly<{ urls: readonly string[]; token: string; clients: number; firstId: bigint }>;

/** Every client has its own ids, so it knows what must be there. */
const IDS_EACH = 1_000_000n;
const PAUSE_MS = 20;

/**
 * Clients that create plants, read them and change some, in turn on each service, and repeat what was answered 503
 * until it is answered 200, as a user would. `stop` lets each finish its current request.
 */
export function startLoad({ urls, token, clients, firstId }: LoadOptions): {
  stop: () => Promise<Journal>;
} {
  const statuses = new Map<number, number>();
  const wrong: string[] = [];
  const answered = new Map<bigint, string>();
  const sent = new Map<bigint, Set<string>>();
  let isStopping = false;

  async function send(client: number, path: string, init: RequestInit): Promise<{ status: number; body: string } | undefined> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${urls[client % urls.length]}${path}`, { ...init, headers });
    const body = await response.text();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    if (response.status === 503 && response.headers.has("retry-after")) return undefined;
    if (response.status !== 200) wrong.push(`${init.method} ${path}: ${response.status} ${body}`);
    return { status: response.status, body };
  }

  /** Sends a request until its status is not 503. Gives up when the load stops. */
  async function insist(client: number, path: string, init: RequestInit): Promise<string | undefined> {
    for (let tries = 0; !isStopping || tries === 0; tries += 1) {
      const answer = await send(client + tries, path, init);
      if (answer) return answer.status === 200 ? answer.body : undefined;
      await Bun.sleep(PAUSE_MS * Math.random());
    }
    return undefined;
  }

  async function put(client: number, id: bigint, name: string, isNew: boolean): Promise<void> {
    sent.set(id, (sent.get(id) ?? new Set()).add(name));
    const init = isNew ? { method: "POST", body: `{"id":${id},"name":"${name}"}` } : { method: "PUT", body: `{"name":"${name}"}` };
    // From here on, until a response comes, either name may be stored.
    if (!isNew) answered.delete(id);
    if ((await insist(client, isNew ? "/plants" : `/plants/${id}`, init)) === undefined) return;
    answered.set(id, name);
  }

  async function run(client: number): Promise<void> {
    const first = firstId + BigInt(client) * IDS_EACH;
    for (let id = first; !isStopping; id += 1n) {
      await put(client, id, `plant ${id}`, true);
      // Repeats a create, makes a change and reads, each for something answered before.
      if (id % 5n === 0n) await put(client, id, `plant ${id}`, true);
      if (id % 7n === 0n && answered.has(id)) await put(client, id, `plant ${id}, renamed`, false);
      const name = answered.get(id);
      if (id % 3n !== 0n || name === undefined) continue;
      const body = await insist(client, `/plants/${id}`, { method: "GET" });
      if (body !== undefined && body !== `{"id":${id},"name":"${name}"}`) wrong.push(`read ${body} instead of ${name}`);
    }
  }

  const running = Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
  return {
    async stop() {
      isStopping = true;
      await running;
      return { statuses, wrong, answered, sent };
    },
  };
}

/**
 * What in the database contradicts the journal: answered plants that are missing or differ, and plants that were never
 * sent like that.
 */
export async function findFaults(
  database: string,
  { answered, sent }: Pick<Journal, "answered" | "sent">,
): Promise<{ lost: string[]; strange: string[] }> {
  const rows = await queryOnce(database, "SELECT id::text, name, count(*) OVER (PARTITION BY id)::text AS copies FROM plants");
  const stored = new Map(rows.map(({ id, name }) => [BigInt(String(id)), String(name)]));
  const lost = [...answered].filter(([id, name]) => stored.get(id) !== name).map(([id, name]) => `${id} ${name}: ${stored.get(id)}`);
  const strange = [...stored].filter(([id, name]) => sent.has(id) && !sent.get(id)!.has(name)).map(([id, name]) => `${id} ${name}`);
  const twice = rows.filter(({ copies }) => copies !== "1").map(({ id }) => `${String(id)} twice`);
  return { lost, strange: [...strange, ...twice] };
}
