import ipaddr from 'ipaddr.js';
import { inRanges, type PackedRanges, parseAddress } from './address-range.ts';

const translation = ipaddr.IPv6.parseCIDR('64:ff9b::/96'); // RFC 6052, 2.1: the last 32 bits are an IPv4 address
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3'); // IANA assigns global unicast addresses (RFC 4291, 2.5.4) only from this block

/** Returns whether an address is public. An address with the translation prefix is public if the IPv4 address in it is public. */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  if (address.match(translation)) return isPublic(new ipaddr.IPv4(address.toByteArray().slice(-4)));
  return address.match(globalUnicast) && address.range() === 'unicast';
}

/**
 * Returns whether Postern may connect to an address that a tenant's configuration leads to. Public addresses are
 * allowed. Loopback, link-local, private, shared and reserved ones must be in `privateTargets`: the operator's own services and the
 * metadata service of the cloud have such addresses.
 * @param privateTargets networks that the operator has allowed (POSTERN_PRIVATE_TARGETS); empty: none
 */
export function isAllowedTarget(address: string, privateTargets: PackedRanges): boolean {
  const ip = parseAddress(address);
  if (!ip) return false;
  return isPublic(ip) || (privateTargets !== '' && inRanges(privateTargets, address));
}
