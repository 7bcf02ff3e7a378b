import { lookup } from "node:dns/promises";
import { BlockList } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");
LOOPBACK.addSubnet("::ffff:127.0.0.0", 104, "ipv6");

/** Whether what is sent to this IP address stays on this machine. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.check(address, address.includes(":") ? "ipv6" : "ipv4");
}

/**
 * Whether other machines may reach what listens on this host, an address or a name. A name that cannot be resolved
 * counts as exposed.
 */
export async function isExposed(host: string): Promise<boolean> {
  const addresses = await lookup(host, { all: true }).catch(() => []);
  return addresses.length === 0 || !addresses.every(({ address }) => isLoopback(address));
}
