import { parseAddress, parseBlock } from './authorization/address-range.ts';

/**
 * Returns the key of the network that an address belongs to. Failures are counted by network.
 * @param bits4 prefix length of IPv4 networks
 * @param bits6 prefix length of IPv6 networks
 */
export function networkOf(address: string, bits4: number, bits6: number): string {
  const ip = parseAddress(address);
  if (!ip) return 'unknown';
  const bits = ip.kind() === 'ipv4' ? bits4 : bits6;
  const range = parseBlock(ip.toString(), String(bits));
  return range ? `${range.first}/${bits}` : 'unknown';
}

/** Returns the narrow network of an address (IPv4 /32, IPv6 /64): usually one client or one site. */
export const narrowNetworkOf = (address: string): string => networkOf(address, 32, 64);

/** Returns the wide network of an address (IPv4 /24, IPv6 /48). One organization may own it, with up to 65,536 narrow networks. */
export const wideNetworkOf = (address: string): string => networkOf(address, 24, 48);

/** Returns the networks that take turns: the wide one, and the narrow one within it. */
export const networksOf = (address: string): readonly [wide: string, narrow: string] => [wideNetworkOf(address), narrowNetworkOf(address)];
