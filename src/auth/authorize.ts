import type { RequiredScope } from "../domain/scope.ts";
import type { Token } from "../store/tokens.ts";
import { Refusal } from "./refusal.ts";

/** Throws `insufficient_scope` if a valid token lacks this scope. `advice` ends the message. */
export function authorize(token: Token, scope: RequiredScope, advice = ": use one that has it."): void {
  if (scope === "any" || token.scopes.includes(scope)) return;
  throw new Refusal("insufficient_scope", {
    token,
    message: `The token lacks the scope ${scope}${advice}`,
    challenge: `error="insufficient_scope", scope="${scope}"`,
  });
}
