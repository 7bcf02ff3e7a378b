import { BlockList, isIP, isIPv4 } from "node:net";
import { lastForwarded } from "./forwarded.ts";
import type { LastHop } from "./forwarded.ts";
import type { Fields } from "./wire/fields.ts";

/** How many proxies in a row are trusted. */
const HOPS_MAX = 16;

/** The address of a client: that of its connection, or what trusted proxies say. */
export type ClientAddress = (address: string, headers: Pick<Fields, "get">) => string;

const LAST_HOP = { "x-forwarded-for": lastAddress, forwarded: lastForwarded } as const;

/** `proxies`: those that are trusted. `header`: the one that they write; the client may have written the other. */
type Trust = Readonly<{ proxies: BlockList | undefined; header: keyof typeof LAST_HOP }>;

/**
 * Reads the trusted header from its end. Each trusted proxy has added the address that it saw. The first address that is
 * not a trusted proxy is the client. The client may have written what comes before it. An invalid address, also one that
 * is `unknown` or hidden (RFC 7239, 6), ends the search.
 */
export function clientAddress({ proxies, header }: Trust): ClientAddress {
  if (!proxies) return (address) => plain(address);
  const lastHop = LAST_HOP[header];
  return (address, headers) => {
    let client = plain(address);
    let list = headers.get(header);
    for (let hops = 0; list !== null && hops < HOPS_MAX && isTrusted(proxies, client); hops += 1) {
      const { node, rest } = lastHop(list);
      const before = plain(withoutPort(node));
      if (isIP(before) === 0) break;
      client = before;
      list = rest;
    }
    return client;
  };
}

function lastAddress(list: string): LastHop {
  const comma = list.lastIndexOf(",");
  return { node: list.slice(comma + 1).trim(), rest: comma === -1 ? null : list.slice(0, comma) };
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

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. RFC 7239, 6: it may be hidden, as in `:_a`. */
function withoutPort(node: string): string {
  return /^(?:\[([\da-f:.]+)\]|([\d.]+)(?=:))(?::(?:\d+|_[\w.-]+))?$/i.exec(node)?.slice(1).find(Boolean) ?? node;
}

/** An IPv4 address may be written as an IPv6 address (RFC 4291, 2.5.5.2). */
function plain(address: string): string {
  if (!address.startsWith(":")) return address;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  return mapped !== undefined && isIPv4(mapped) ? mapped : address;
}
