import type { Token } from "../store/tokens.ts";

/** Who sent a request, and from where. It goes with the request from authentication to the log. */
export type Principal = Readonly<{
  /** The token that authorized the request; undefined if none is needed. */
  token: Token | undefined;
  /** The IP address of the client, as text; "" if it has already disconnected. */
  address: string;
}>;

/** The owner of a principal's shares: its token or, if none is needed, its address. */
export function ownerOf({ token, address }: Principal): string {
  return token?.id ?? address;
}

/** The token of an operation that needs one. Throws if the contract would allow a request without one. */
export function tokenOf({ token }: Principal): Token {
  if (!token) throw new Error("The operation needs a token, but the contract does not say so.");
  return token;
}
