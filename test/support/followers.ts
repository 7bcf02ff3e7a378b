import { createClient } from "../../src/client/client.ts";
import { openRandom } from "./random.ts";

/** Where a follower begins: a service that may be away at any moment. */
export type Place = Readonly<{ url: () => string; token: string }>;

/** A copy of a store, which someone keeps who follows its changes. */
export type Copy = {
  readonly kind: string;
  /** Plants as JSON, by id. */
  plants: Map<string, string>;
  /** How often it was told 410, and began again. */
  goneCount: number;
  /** How many changes it has applied. */
  applied: number;
  stop(): Promise<void>;
};

type Entry = Readonly<{ id: number; plant?: unknown }>;

/** What a kind of follower does from a cursor on: it resolves or rejects when it has to connect again. */
type Follow = (cursor: string, apply: (entry: Entry | undefined, cursor: string) => void, signal: AbortSignal) => Promise<unknown>;

class Gone extends Error {}

const PAUSE_MS = 50;

function keepCopy(kind: string, place: Place, follow: Follow): Copy {
  const ending = new AbortController();
  const copy: Copy = { kind, plants: new Map(), goneCount: 0, applied: 0, stop: async () => (ending.abort(), running) };
  let cursor: string | undefined;

  function apply(entry: Entry | undefined, behind: string): void {
    cursor = behind;
    if (!entry) return;
    copy.applied += 1;
    if (entry.plant === undefined) copy.plants.delete(String(entry.id));
    else copy.plants.set(String(entry.id), JSON.stringify(entry.plant));
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        if (cursor === undefined) ({ plants: copy.plants, cursor } = await begin(place, ending.signal));
        await follow(cursor, apply, ending.signal);
      } catch (reason) {
        if (reason instanceof Gone) {
          copy.goneCount += 1;
          cursor = undefined;
        }
        await Bun.sleep(PAUSE_MS);
      }
    }
  }

  const running = run();
  return copy;
}

async function ask({ url, token }: Place, path: string, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${url()}${path}`, { signal, headers: { authorization: `Bearer ${token}`, ...headers } });
  if (response.status === 410) throw new Gone();
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  return response;
}

async function begin(place: Place, signal: AbortSignal) {
  const response = await ask(place, "/plants/export", signal);
  const lastId = response.headers.get("x-last-id");
  const lines = (await response.text()).split("\n").filter((line) => line !== "");
  const plants = new Map(lines.map((line) => [String((JSON.parse(line) as Entry).id), line]));
  if (lastId !== null && !plants.has(lastId)) throw new Error("half an export");
  return { plants, cursor: response.headers.get("x-changes-cursor")! };
}

/** Asks for pages of JSON, again and again. */
function poll(place: Place): Follow {
  return async (cursor, apply, signal) => {
    for (let after = cursor; ;) {
      const response = await ask(place, `/plants/changes?limit=300&after=${after}`, signal);
      const entries = (await response.json()) as Entry[];
      after = /[?&]after=([^&>]+)/.exec(response.headers.get("link") ?? "")![1]!;
      for (const entry of entries) apply(entry, cursor);
      apply(undefined, after);
      if (entries.length === 0) await Bun.sleep(PAUSE_MS);
    }
  };
}

/** Reads the stream by hand, as any program might. */
function stream(place: Place): Follow {
  return async (cursor, apply, signal) => {
    const headers = { accept: "text/event-stream", "last-event-id": cursor };
    const response = await ask(place, "/plants/changes", signal, headers);
    const decoder = new TextDecoder();
    let rest = "";
    let behind = cursor;
    for await (const piece of response.body!) {
      const blocks = `${rest}${decoder.decode(piece, { stream: true })}`.split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        behind = /^id: ?(.*)$/m.exec(block)?.[1] ?? behind;
        const data = /^data: ?(.*)$/m.exec(block)?.[1];
        apply(data === undefined ? undefined : (JSON.parse(data) as Entry), behind);
      }
    }
  };
}

/** The typed client, which connects again by itself. */
function loop({ url, token }: Place): Follow {
  return async (cursor, apply, signal) => {
    const client = createClient({ url: url(), token });
    try {
      for await (const { change, cursor: behind } of client.changes({ after: cursor, signal })) {
        const plant = change?.plant;
        const entry = change && { id: Number(change.id), ...(plant && { plant: { ...plant, id: Number(plant.id) } }) };
        apply(entry, behind);
      }
    } catch (reason) {
      if ((reason as { status?: number }).status === 410) throw new Gone();
      throw reason;
    }
  };
}

/** One of each kind. */
export function startFollowers(place: Place): readonly Copy[] {
  return [keepCopy("pages", place, poll(place)), keepCopy("stream", place, stream(place)), keepCopy("client", place, loop(place))];
}

/** What is stored now, as `Copy.plants`. */
export async function readAll(place: Place): Promise<Map<string, string>> {
  return (await begin(place, new AbortController().signal)).plants;
}

/** Clients that create, replace and delete plants, each those of its own ids, until they are stopped. */
export function startWriters(
  place: Place,
  { writers, firstId, pauseMs = 0 }: Readonly<{ writers: number; firstId: number; pauseMs?: number }>,
) {
  let isStopping = false;
  let answered = 0;

  async function write(writer: number): Promise<void> {
    const random = openRandom(firstId + writer);
    const mine: number[] = [];
    for (let count = 0; !isStopping; count += 1) {
      const chosen = mine[Math.trunc(random() * mine.length)];
      const dice = random();
      const id = dice < 0.6 || chosen === undefined ? firstId + writers * count + writer : chosen;
      const request =
        dice > 0.85 && chosen !== undefined
          ? { method: "DELETE" }
          : { method: "PUT", body: JSON.stringify({ name: `plant ${id} of ${count}`, tag: `tag ${count % 7}` }) };
      const headers = { authorization: `Bearer ${place.token}`, "content-type": "application/json" };
      try {
        const { status } = await fetch(`${place.url()}/plants/${id}`, { ...request, headers });
        if (status < 300) answered += 1;
        if (status < 300 && id !== chosen) mine.push(id);
      } catch {
        await Bun.sleep(PAUSE_MS);
      }
      if (pauseMs > 0) await Bun.sleep(pauseMs);
    }
  }

  const running = Array.from({ length: writers }, (_, writer) => write(writer));
  return {
    answered: () => answered,
    async stop() {
      isStopping = true;
      await Promise.all(running);
    },
  };
}
