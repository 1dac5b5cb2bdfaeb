import { blockOf, parseAddress } from './authorization/address-range.ts';
import { setAndEvict } from './bounded-map.ts';

const maxCachedAddresses = 2000; // addresses

/**
 * Returns a function that returns the prefix of an address as a key, or 'unknown'. It remembers the results for recent addresses: each
 * request of a client needs them several times.
 * @param bits4 prefix length for IPv4
 * @param bits6 prefix length for IPv6
 */
function prefixes(bits4: number, bits6: number): (address: string) => string {
  const cache = new Map<string, string>();
  return (address) => {
    const cachedPrefix = cache.get(address);
    if (cachedPrefix !== undefined) return cachedPrefix;
    const ip = parseAddress(address);
    if (!ip) return 'unknown';
    const bits = ip.kind() === 'ipv4' ? bits4 : bits6;
    const prefix = `${blockOf(ip, bits).first}/${bits}`;
    setAndEvict(cache, address, prefix, maxCachedAddresses);
    return prefix;
  };
}

/** Returns the narrow network of an address (IPv4 /32, IPv6 /64): usually one client or one household. */
export const narrowNetworkOf: (address: string) => string = prefixes(32, 64);

/** Returns the wide network of an address (IPv4 /24, IPv6 /48). One organization may own it, with up to 65,536 narrow networks. */
export const wideNetworkOf: (address: string) => string = prefixes(24, 48);

/** Returns the site of an address: an IPv4 address itself, or the /48 of an IPv6 address, since one client can own an entire /48. */
export const siteOf: (address: string) => string = prefixes(32, 48);

/** Returns the networks that take turns: the wide one, and the narrow one within it. */
export const networksOf = (address: string): readonly [wide: string, narrow: string] => [wideNetworkOf(address), narrowNetworkOf(address)];

/** Returns the networks of a client that take turns. @param address undefined: the work is not for a client */
export const clientGroupsOf = (address: string | undefined): readonly [wide: string, narrow: string] =>
  address === undefined ? ['own', 'own'] : networksOf(address);
