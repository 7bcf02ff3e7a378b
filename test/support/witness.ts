import { readToken } from "./service.ts";
import { nameOf, openClient } from "./creates.ts";

/** Creates plants one by one and writes down everything that it is answered. */
type Witness = Readonly<{
  /** Every status of a create, of /readyz and of /livez. A create without an answer has the status 0. */
  creates: ReadonlySet<number>;
  readiness: ReadonlySet<number>;
  liveness: ReadonlySet<number>;
  /** Every status of a read of the first plant and of a page. A plant that is not as created has the status 0. */
  reads: ReadonlySet<number>;
  /** What each create that was answered 503 was told: the error's number, and when to try again. */
  refusals: readonly string[];
  /** The plants that were answered 200. */
  ids: readonly number[];
  /** Creates so many plants, or fewer once `isEnough`, and reads, and looks at /readyz and /livez, after each. */
  create(count: number, isEnough?: () => boolean): Promise<void>;
  /** Creates nothing until /readyz is 200. False when that took too long. */
  waitUntilReady(): Promise<boolean>;
}>;

const PAUSE_MS = 20;
const READY_MS_MAX = 6000;

export async function createWitness({ url, data }: { url: string; data: string }): Promise<Witness> {
  const send = await openClient({ url, data });
  const headers = { authorization: `Bearer ${await readToken(data)}` };
  const creates = new Set<number>();
  const readiness = new Set<number>();
  const liveness = new Set<number>();
  const reads = new Set<number>();
  const refusals: string[] = [];
  const ids: number[] = [];
  let lastId = 0;

  async function read(): Promise<void> {
    const first = ids[0];
    if (first === undefined) return;
    const plant = await fetch(`${url}/plants/${first}`, { headers });
    const isSame = (await plant.text()) === JSON.stringify({ id: first, name: nameOf(first) });
    reads.add(isSame ? plant.status : 0).add((await fetch(`${url}/plants`, { headers })).status);
  }

  async function look(): Promise<boolean> {
    const { status } = await fetch(`${url}/readyz`);
    readiness.add(status);
    liveness.add((await fetch(`${url}/livez`)).status);
    return status === 200;
  }

  async function createNext(): Promise<void> {
    lastId += 1;
    const { status, body, retryAfter } = (await send({ id: lastId, name: nameOf(lastId) })) ?? { status: 0, body: "", retryAfter: null };
    creates.add(status);
    if (status === 200) ids.push(lastId);
    if (status === 503) refusals.push(`${(JSON.parse(body) as { error: number }).error}, Retry-After: ${retryAfter}`);
  }

  return {
    creates,
    readiness,
    liveness,
    reads,
    refusals,
    ids,
    async create(count, isEnough = () => false) {
      for (let round = 0; round < count && !isEnough(); round += 1) {
        await createNext();
        await read();
        await look();
        await Bun.sleep(PAUSE_MS);
      }
    },
    async waitUntilReady() {
      const deadline = performance.now() + READY_MS_MAX;
      while (performance.now() < deadline) {
        if (await look()) return true;
        await Bun.sleep(PAUSE_MS);
      }
      return false;
    },
  };
}
