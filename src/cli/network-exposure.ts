import { lookup } from "node:dns/promises";
import { isLoopback } from "../runtime/loopback.ts";

/**
 * Whether other machines may reach what listens on this host, an address or a name. A name that cannot be resolved
 * counts as exposed.
 */
export async function isExposed(host: string): Promise<boolean> {
  const addresses = await lookup(host, { all: true }).catch(() => []);
  return addresses.length === 0 || !addresses.every(({ address }) => isLoopback(address));
}
