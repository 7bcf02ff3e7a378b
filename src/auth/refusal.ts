import { PlantStoreError } from "../errors.ts";
import type { Token } from "../store/tokens.ts";

type RefusalOptions = Readonly<{
  /** The token that the request brought, if the store knows it. */
  token?: Token | undefined;
  /** What follows the realm in the header WWW-Authenticate (RFC 6750, 3). */
  challenge?: string;
  message?: string;
  headers?: Readonly<Record<string, string>>;
}>;

/** Why a request was not let in. */
export class Refusal extends PlantStoreError {
  readonly token: Token | undefined;

  constructor(code: "missing_token" | "invalid_token" | "insufficient_scope", { token, challenge, message, headers }: RefusalOptions = {}) {
    const authenticate = ['Bearer realm="plant-store"', ...(challenge === undefined ? [] : [challenge])].join(", ");
    super(code, { ...(message === undefined ? {} : { message }), headers: { "www-authenticate": authenticate, ...headers } });
    this.token = token;
  }
}
