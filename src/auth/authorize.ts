import { PlantStoreError } from "../domain/errors.ts";
import type { RequiredScope } from "../domain/scope.ts";
import type { Token } from "../store/tokens.ts";

/** Throws `insufficient_scope` if a valid token lacks this scope. `advice` ends the message. */
export function authorize(token: Token, scope: RequiredScope, advice = ": use one that has it."): void {
  if (scope === "any" || token.scopes.includes(scope)) return;
  throw new Refusal("insufficient_scope", {
    token,
    message: `The token lacks the scope ${scope}${advice}`,
    challenge: `error="insufficient_scope", scope="${scope}"`,
  });
}

type RefusalOptions = Readonly<{
  /** The token in the request, if the store has it. */
  token?: Token | undefined;
  /** The part of the WWW-Authenticate header after the realm (RFC 6750, 3). */
  challenge?: string;
  message?: string;
  headers?: Readonly<Record<string, string>>;
}>;

/** Why authentication or authorization refused a request. */
export class Refusal extends PlantStoreError {
  readonly token: Token | undefined;

  constructor(code: "missing_token" | "invalid_token" | "insufficient_scope", { token, challenge, message, headers }: RefusalOptions = {}) {
    const authenticate = ['Bearer realm="plant-store"', ...(challenge === undefined ? [] : [challenge])].join(", ");
    super(code, { ...(message === undefined ? {} : { message }), headers: { "www-authenticate": authenticate, ...headers } });
    this.token = token;
  }
}
