import type { FastifyRequest } from 'fastify';
import { inRanges, packList } from '#core/policy/address-range.ts';

/** An address with a port, as some proxies write it: `203.0.113.7:52100`, `[2001:db8::1]:52100`. */
const withPort = /^(?:(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([0-9a-f:.]+)\](?::\d{1,5})?)$/i;

const longest = 1000; // characters, some sixty proxies: a caller may write thousands of addresses in front

/**
 * The last addresses of an `X-Forwarded-For`, which alone can be believed, without their ports: with them every visitor
 * would be of one unknown network.
 */
export function withoutPorts(forwarded: string): string {
  const near = forwarded.length > longest ? forwarded.slice(forwarded.indexOf(',', forwarded.length - longest) + 1) : forwarded;
  if (!/[[\]]|\.\d+:/.test(near)) return near;
  return near
    .split(',')
    .map((entry) => {
      const [, v4, v6] = withPort.exec(entry.trim()) ?? [];
      return v4 ?? v6 ?? entry.trim();
    })
    .join(', ');
}

/** Says whether an address is of a proxy whose headers are believed. A connection that was reset has none. */
export type TrustedProxies = (address: string | undefined) => boolean;

/** @returns undefined where no proxy is trusted */
export function trustIn(proxies: readonly string[]): TrustedProxies | undefined {
  if (proxies.length === 0) return undefined;
  const ranges = packList(proxies.join(' '));
  const known = new Map<string, boolean>();
  return (address) => {
    if (address === undefined) return false;
    const trusted = known.get(address) ?? inRanges(ranges, address);
    if (known.size < 1000) known.set(address, trusted); // a few proxies send most requests
    return trusted;
  };
}

/**
 * Returns a check that logs, once, that a proxy names visitors whom nobody believes: all of them then count as one, in
 * address ranges and limits.
 */
export function untrustedProxyWarning(isTrusted: TrustedProxies | undefined): (request: FastifyRequest) => void {
  let warned = false;
  return ({ raw, log }) => {
    if (warned || raw.headers['x-forwarded-for'] === undefined) return;
    const proxy = raw.socket.remoteAddress ?? '';
    if (isTrusted?.(proxy)) return;
    warned = true;
    log.warn(
      `A proxy at ${proxy} sends X-Forwarded-For, but POSTERN_TRUSTED_PROXIES does not name it: all its visitors count as one address.`,
    );
  };
}
