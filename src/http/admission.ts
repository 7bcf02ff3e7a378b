import { setTimeout as sleep } from "node:timers/promises";
import type { WriteQueue } from "../contract.ts";
import { PlantStoreError } from "../errors.ts";
import { createFairShares } from "../fair-shares.ts";
import type { Owner } from "../fair-shares.ts";
import type { Fields } from "./wire/fields.ts";

/** Refuses a change or an import for which there is no room, before its body is read: undefined when there is room. */
export type Admission = (queue: WriteQueue | undefined, headers: Fields, owner: Owner) => Promise<never> | undefined;

type AdmissionOptions = Readonly<{
  /** Whether more of this owner would be refused now. */
  isFull: (queue: WriteQueue, owner: Owner) => boolean;
  /** Largest body of a request. */
  bodyBytesMax: number;
  isDraining: () => boolean;
}>;

/**
 * How long a refusal waits for its answer, in milliseconds. Whoever comes again at once would otherwise have the service do nothing but refuse:
 * so a connection costs it one refusal a second at most, and what it can do stays for those whom it accepted.
 */
const REFUSAL_MS = 1000;

/** How many refusals may wait, of which a token has its share. Those beyond are answered at once, and their connections closed. */
const WAITING_MAX = 8192;

export function createAdmission({ isFull, bodyBytesMax, isDraining }: AdmissionOptions): Admission {
  const waiting = createFairShares(WAITING_MAX);

  async function refuse(headers: Fields, owner: Owner): Promise<never> {
    if (isDraining()) throw new PlantStoreError("overloaded");
    // Meanwhile what comes of a body that nobody reads is kept.
    const release = isSmall(headers, bodyBytesMax) ? waiting.take(owner) : undefined;
    if (!release) throw new PlantStoreError("overloaded", { headers: { connection: "close" } });
    await sleep(REFUSAL_MS);
    release();
    throw new PlantStoreError("overloaded");
  }

  return (queue, headers, owner) => (queue && isFull(queue, owner) ? refuse(headers, owner) : undefined);
}

/** Whether a body, if there is one, says that it is no larger than it may be. */
function isSmall(headers: Fields, bytesMax: number): boolean {
  return headers.get("transfer-encoding") === null && Number(headers.get("content-length") ?? 0) <= bytesMax;
}
