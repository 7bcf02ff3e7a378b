import { setTimeout as sleep } from "node:timers/promises";
import type { WriteQueue } from "../domain/contract.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { createFairShares } from "../runtime/fair-shares.ts";
import type { Owner } from "../runtime/fair-shares.ts";
import type { Fields } from "./wire/fields.ts";

/** Refuses a change or an import before its body is read when there is no room for it. Undefined when there is room. */
export type Admission = (queue: WriteQueue | undefined, headers: Fields, owner: Owner) => Promise<never> | undefined;

type AdmissionOptions = Readonly<{
  /** Whether the next change or import of this owner would be refused now. */
  isFull: (queue: WriteQueue, owner: Owner) => boolean;
  /** Largest body of a request, in bytes. */
  bodyBytesMax: number;
  isDraining: () => boolean;
}>;

/**
 * How long a refusal waits for its response, in milliseconds. Otherwise clients that retry at once would keep the
 * service busy with refusals. This way a connection costs it at most one refusal a second, and the rest of its capacity
 * serves accepted requests.
 */
const REFUSAL_MS = 1000;

/**
 * How many refusals may wait; a token has its share of them. Those beyond get their response at once, and their
 * connections are closed.
 *
 * @limit connections: refusals that wait a second before they are sent, half of them of one token
 */
const WAITING_MAX = 8192;

export function createAdmission({ isFull, bodyBytesMax, isDraining }: AdmissionOptions): Admission {
  const waiting = createFairShares(WAITING_MAX);

  async function refuse(headers: Fields, owner: Owner): Promise<never> {
    if (isDraining()) throw new PlantStoreError("overloaded");
    // While a refusal waits, what arrives of its body stays in memory.
    const release = isSmall(headers, bodyBytesMax) ? waiting.take(owner) : undefined;
    if (!release) throw new PlantStoreError("overloaded", { headers: { connection: "close" } });
    await sleep(REFUSAL_MS);
    release();
    throw new PlantStoreError("overloaded");
  }

  return (queue, headers, owner) => (queue && isFull(queue, owner) ? refuse(headers, owner) : undefined);
}

/** Whether a body, if there is one, declares an allowed length. */
function isSmall(headers: Fields, bytesMax: number): boolean {
  return headers.get("transfer-encoding") === null && Number(headers.get("content-length") ?? 0) <= bytesMax;
}
