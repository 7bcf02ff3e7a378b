import { readToken } from "./service.ts";
import { plantOf, toJson } from "./flood.ts";
import { isWithin } from "./patient-clock.ts";

/** Creates plants one by one and records every response. */
type Witness = Readonly<{
  /** Every status of a create, of /readyz and of /livez. A create without a response has the status 0. */
  creates: ReadonlySet<number>;
  readiness: ReadonlySet<number>;
  liveness: ReadonlySet<number>;
  /** Every status of a read of the first plant and of a page. A plant that is not as created has the status 0. */
  reads: ReadonlySet<number>;
  /** What each create answered 503 received: the error's number, and when to try again. */
  refusals: readonly string[];
  /** The plants that it sent, and those that were answered 200. */
  attempted: readonly bigint[];
  answered: readonly bigint[];
  /** Creates this many plants, or fewer once `isEnough`, and reads, and checks /readyz and /livez, after each. */
  create(count: number, isEnough?: () => boolean): Promise<void>;
  /** Creates nothing until /readyz is 200. False if that took too long. */
  waitUntilReady(): Promise<boolean>;
}>;

const PAUSE_MS = 20;
const READY_MS_MAX = 6000;

export async function createWitness({ url, data }: { url: string; data: string }): Promise<Witness> {
  const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
  const creates = new Set<number>();
  const readiness = new Set<number>();
  const liveness = new Set<number>();
  const reads = new Set<number>();
  const refusals: string[] = [];
  const attempted: bigint[] = [];
  const answered: bigint[] = [];

  async function read(): Promise<void> {
    const first = answered[0];
    if (first === undefined) return;
    const plant = await fetch(`${url}/plants/${first}`, { headers });
    const isSame = (await plant.text()) === toJson(plantOf(first));
    reads.add(isSame ? plant.status : 0).add((await fetch(`${url}/plants`, { headers })).status);
  }

  async function look(): Promise<boolean> {
    const { status } = await fetch(`${url}/readyz`);
    readiness.add(status);
    liveness.add((await fetch(`${url}/livez`)).status);
    return status === 200;
  }

  async function createNext(): Promise<void> {
    const id = BigInt(attempted.length + 1);
    attempted.push(id);
    const sent = fetch(`${url}/plants`, { method: "POST", headers, body: toJson(plantOf(id)) });
    const response = await sent.catch(() => undefined);
    creates.add(response?.status ?? 0);
    if (response?.status === 200) answered.push(id);
    if (response?.status !== 503) return void (await response?.arrayBuffer());
    const { error } = (await response.json()) as { error: number };
    refusals.push(`${error}, Retry-After: ${response.headers.get("retry-after")}`);
  }

  return {
    creates,
    readiness,
    liveness,
    reads,
    refusals,
    attempted,
    answered,
    async create(count, isEnough = () => false) {
      for (let round = 0; round < count && !isEnough(); round += 1) {
        await createNext();
        await read();
        await look();
        await Bun.sleep(PAUSE_MS);
      }
    },
    waitUntilReady: () => isWithin(READY_MS_MAX, look),
  };
}
