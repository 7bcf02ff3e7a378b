import type { Token } from "./store/tokens.ts";

/** Who asks, and from where: known from the first line of a request to the last line of the log. */
export type Principal = Readonly<{
  /** What let the request in, with its id, name, scopes and expiry; undefined where no token is needed. */
  token: Token | undefined;
  /** The IP address of the client, as it is written; "" when it has gone already. */
  address: string;
}>;

/** Under what name a principal has its shares: its token; where none is needed, its address. */
export function ownerOf({ token, address }: Principal): string {
  return token?.id ?? address;
}

/** The token of an operation that needs one. Throws where the contract would let in a request without. */
export function tokenOf({ token }: Principal): Token {
  if (!token) throw new Error("The operation needs a token, but the contract does not say so.");
  return token;
}
