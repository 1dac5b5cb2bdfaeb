import type { FastifyRequest } from 'fastify';
import { inRanges, packRangeText } from '#core/authorization/address-range.ts';

/** An address with a port, as some proxies write it: `203.0.113.7:52100`, `[2001:db8::1]:52100`. */
const addressWithPort = /^(?:(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([0-9a-f:.]+)\](?::\d{1,5})?)$/i;

const maxLength = 1000; // characters, about sixty proxies: a client may send thousands of addresses in front

/**
 * Returns the last addresses of an `X-Forwarded-For`, without their ports. Only the last addresses can be trusted. With
 * ports, all visitors would count as one unknown network.
 */
export function withoutPorts(forwarded: string): string {
  const tail = forwarded.length > maxLength ? forwarded.slice(forwarded.indexOf(',', forwarded.length - maxLength) + 1) : forwarded;
  if (!/[[\]]|\.\d+:/.test(tail)) return tail;
  return tail
    .split(',')
    .map((entry) => {
      const [, v4, v6] = addressWithPort.exec(entry.trim()) ?? [];
      return v4 ?? v6 ?? entry.trim();
    })
    .join(', ');
}

/** Returns whether an address belongs to a trusted proxy. A connection that was reset has no address. */
export type IsTrustedProxy = (address: string | undefined) => boolean;

/** Returns the check for trusted proxies, or undefined if no proxy is trusted. */
export function trustedProxyCheck(proxies: readonly string[]): IsTrustedProxy | undefined {
  if (proxies.length === 0) return undefined;
  const ranges = packRangeText(proxies.join(' '));
  const results = new Map<string, boolean>();
  return (address) => {
    if (address === undefined) return false;
    const trusted = results.get(address) ?? inRanges(ranges, address);
    if (results.size < 1000) results.set(address, trusted); // a few proxies send most requests
    return trusted;
  };
}

/**
 * Returns a check that logs once if an untrusted proxy sends X-Forwarded-For. All its visitors then count as one
 * address, for the address ranges of login profiles and for rate limits.
 */
export function untrustedProxyWarning(isTrusted: IsTrustedProxy | undefined): (request: FastifyRequest) => void {
  let hasWarned = false;
  return ({ raw, log }) => {
    if (hasWarned || raw.headers['x-forwarded-for'] === undefined) return;
    const proxy = raw.socket.remoteAddress ?? '';
    if (isTrusted?.(proxy)) return;
    hasWarned = true;
    log.warn(
      `A proxy at ${proxy} sends X-Forwarded-For, but POSTERN_TRUSTED_PROXIES does not list it, so all visitors behind it count as one address.`,
    );
  };
}
