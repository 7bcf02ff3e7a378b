import { BlockList, isIP, isIPv4 } from "node:net";
import type { Fields } from "./wire/fields.ts";

/** How many proxies in a row are trusted. */
const HOPS_MAX = 16;

/** The address of a client: that of its connection, or what trusted proxies say. */
export type ClientAddress = (address: string, headers: Pick<Fields, "get">) => string;

/**
 * Reads X-Forwarded-For, which nginx, HAProxy, Caddy and Apache send, from its end. Each trusted proxy has added the
 * address that it saw. The first address that is not a trusted proxy is the client. The client may have written what
 * comes before it. An invalid address ends the search.
 */
export function clientAddress(trusted: BlockList | undefined): ClientAddress {
  if (!trusted) return (address) => plain(address);
  return (address, headers) => {
    let client = plain(address);
    let rest = headers.get("x-forwarded-for");
    for (let hops = 0; rest !== null && hops < HOPS_MAX && isTrusted(trusted, client); hops += 1) {
      const comma = rest.lastIndexOf(",");
      const before = plain(withoutPort(rest.slice(comma + 1).trim()));
      if (isIP(before) === 0) break;
      client = before;
      rest = comma === -1 ? null : rest.slice(0, comma);
    }
    return client;
  };
}

/** Whose requests count together: an IPv4 address, or the 64 bits of IPv6 that one household or machine has. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(":");
}

function isTrusted(trusted: BlockList, address: string): boolean {
  return isIP(address) !== 0 && trusted.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(node: string): string {
  return /^\[([\da-f:.]+)\](?::\d+)?$/i.exec(node)?.[1] ?? /^([\d.]+):\d+$/.exec(node)?.[1] ?? node;
}

/** An IPv4 address may be written as an IPv6 address (RFC 4291, 2.5.5.2). */
function plain(address: string): string {
  if (!address.startsWith(":")) return address;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  return mapped !== undefined && isIPv4(mapped) ? mapped : address;
}
