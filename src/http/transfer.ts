import type { Audit } from "../auth/audit.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { PlantStoreError } from "../domain/errors.ts";
import type { FairShares } from "../runtime/fair-shares.ts";
import type { PlantsFor } from "../store/queued-plants.ts";
import type { Call } from "./router.ts";

/** What imports and exports need. */
export type TransferOptions = Readonly<{
  plantsFor: PlantsFor;
  /**
   * Those that are running. A token gets only its share of them: an import holds some plants in memory, and an export
   * keeps a snapshot, on PostgreSQL with a connection.
   */
  running: FairShares;
  /** Checks the token repeatedly during a transfer: it may be revoked, or expire. */
  authenticator: Authenticator;
  audit: Audit;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}>;

/**
 * How long a sender may send nothing, or a reader read nothing.
 *
 * @limit files: pause of an import or export
 */
export const IDLE_SECONDS = 60;

/** Returns a function that rejects once the token of the call is not valid any more. */
export function accessCheck(
  authenticator: Authenticator,
  { headers, principal: { token } }: Pick<Call<"importPlants" | "exportPlants">, "headers" | "principal">,
): () => Promise<void> {
  const authorization = headers.get("authorization");
  return async () => {
    if (token) await authenticator.confirm(authorization, token);
  };
}

/** The name of an error; "incomplete_body" if the connection broke off. */
export function outcomeOf(reason: unknown): string {
  if (reason instanceof PlantStoreError) return reason.code;
  return reason instanceof DOMException && reason.name === "AbortError" ? "incomplete_body" : "failed";
}
