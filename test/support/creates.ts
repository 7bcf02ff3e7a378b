import { readToken } from "./service.ts";
import { startService } from "./service-process.ts";

/** What came back for a create. */
export type Answer = Readonly<{ status: number; retryAfter: string | null; body: string }>;

type Plant = Readonly<{ id: number; name: string }>;

const CONNECTIONS = 8;

/** The name of the plant that a test creates under an id. None is part of another. */
export function nameOf(id: number): string {
  return `plant-${String(id).padStart(6, "0")}`;
}

/** Sends creates; `undefined` when the connection broke before an answer. */
export async function openClient({ url, data }: { url: string; data: string }) {
  const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
  return async function create(plant: Plant): Promise<Answer | undefined> {
    try {
      const response = await fetch(`${url}/plants`, { method: "POST", headers, body: JSON.stringify(plant) });
      return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await response.text() };
    } catch {
      return undefined;
    }
  };
}

type LoadOptions = Readonly<{ url: string; data: string; connections?: number; each: number }>;

/** Creates plants on several connections, until one breaks. Returns the ids that were answered 200. */
export async function createPlants({ url, data, connections = CONNECTIONS, each }: LoadOptions): Promise<number[]> {
  const create = await openClient({ url, data });
  const answered: number[] = [];
  async function work(firstId: number): Promise<void> {
    for (let id = firstId; id < firstId + each; id += 1) {
      const answer = await create({ id, name: nameOf(id) });
      if (!answer) return;
      if (answer.status === 200) answered.push(id);
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, connection) => work(connection * each)));
  return answered;
}

/** Starts the service anew on the data and returns those ids whose very plant is not there. */
export async function findLost({ data, ids }: { data: string; ids: readonly number[] }): Promise<number[]> {
  const service = await startService({ data });
  const create = await openClient({ url: service.url, data });
  const lost: number[] = [];
  async function check(id: number): Promise<void> {
    // The other name first: it is refused only if a plant is there, and the plant's own name is taken only if it is that plant.
    const other = await create({ id, name: "another" });
    const same = await create({ id, name: nameOf(id) });
    if (other?.status !== 409 || same?.status !== 200) lost.push(id);
  }
  for (let at = 0; at < ids.length; at += CONNECTIONS) await Promise.all(ids.slice(at, at + CONNECTIONS).map(check));
  await service.end("SIGTERM");
  return lost;
}
