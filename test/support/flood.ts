import type { Service } from "./service-process.ts";

/** Every plant of a flood follows from its id, so a stored one can be checked. */
type FloodPlant = Readonly<{ id: bigint; name: string; tag: string }>;

/** What the clients of a flood know of their plants: every one that they sent, and those that were answered 200. */
export type Journal = Readonly<{
  attempted: readonly bigint[];
  answered: readonly bigint[];
  /** Every other status that was answered. */
  others: readonly number[];
  /** From the beginning to the last response. */
  seconds: number;
}>;

/** Clients that create plants as fast as they can. */
export type Flood = Readonly<{
  /** How many were answered 200 so far. */
  count(): number;
  /** Lets each client finish its current request. Clients whose service is gone have stopped by themselves. */
  stop(): Promise<Journal>;
}>;

type FloodOptions = Readonly<{ url: string; token: string; firstId: bigint; clients?: number }>;

const CLIENTS = 32;

export function plantOf(id: bigint): FloodPlant {
  return { id, name: `plant ${id} ${"x".repeat(Number(id % 50n))}`, tag: `tag ${id % 300n}` };
}

/** Sends plants as one file and resolves with the summary. */
export async function importPlants({ ask }: Pick<Service, "ask">, ids: readonly bigint[]): Promise<Record<string, number>> {
  const body = ids.map((id) => `${toJson(plantOf(id))}\n`).join("");
  return (await (await ask("POST", "/plants/import", body, "application/x-ndjson")).json()) as Record<string, number>;
}

/** Names and tags here need no escapes, and JSON.stringify does not support bigint. */
export function toJson({ id, name, tag }: FloodPlant): string {
  return `{"id":${id},"name":"${name}","tag":"${tag}"}`;
}

export function startFlood({ url, token, firstId, clients = CLIENTS }: FloodOptions): Flood {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const attempted: bigint[] = [];
  const answered: bigint[] = [];
  const others: number[] = [];
  const began = performance.now();
  let lastAt = began;
  let isStopping = false;

  async function create(id: bigint): Promise<void> {
    attempted.push(id);
    const response = await fetch(`${url}/plants`, { method: "POST", body: toJson(plantOf(id)), headers });
    await response.arrayBuffer();
    if (response.status !== 200) return void others.push(response.status);
    answered.push(id);
    lastAt = performance.now();
  }

  async function work(): Promise<void> {
    while (!isStopping) {
      try {
        await create(firstId + BigInt(attempted.length));
      } catch {
        // The connection broke, or was refused: whether that plant is stored is unknown.
        return;
      }
    }
  }

  const working = Promise.all(Array.from({ length: clients }, work));
  return {
    count: () => answered.length,
    async stop() {
      isStopping = true;
      await working;
      return { attempted, answered, others, seconds: Math.max(lastAt - began, 1) / 1000 };
    },
  };
}
