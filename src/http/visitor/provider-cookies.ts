import { parseCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sha256 } from '#features/records/sha256.ts';
import { type ProviderStart, providerSignInTime } from '#features/visits/sign-in/provider-sign-in.ts';
import { cookiePrefix, sendCookie } from './visitor-cookies.ts';

const maxSignIns = 4; // that one browser may begin at the same time: each cookie is about 0.6 kB, and headers have a limit
const suffixStart = 'oidc-';
const suffixLength = 16; // characters

/** Returns the suffix of the cookie of a sign-in. */
const suffixOf = (state: string) =>
  suffixStart +
  sha256(state)
    .slice(0, suffixLength)
    .replace(/[^\w-]/g, '_');

/** Returns the cookie of the sign-in with a state, or null. */
export const providerCookie = ({ headers }: FastifyRequest, publicUrl: string, state: string): string | null =>
  parseCookie(headers.cookie ?? '')[cookiePrefix(publicUrl) + suffixOf(state)] ?? null;

/** Sets the cookie of a sign-in at a provider. Deletes the oldest ones of a browser that begins many. */
export function setProviderCookie(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
  { state, sealed }: NonNullable<ProviderStart['cookie']>,
): void {
  const prefix = cookiePrefix(publicUrl);
  const started = Object.keys(parseCookie(headers.cookie ?? '')).filter((name) => name.startsWith(prefix + suffixStart));
  // A browser sends the oldest ones first (RFC 6265, 5.4).
  for (const name of started.slice(0, Math.max(0, started.length - maxSignIns + 1)))
    sendCookie(reply, publicUrl, name.slice(prefix.length), '', 0);
  sendCookie(reply, publicUrl, suffixOf(state), sealed, providerSignInTime / 1000);
}

/** Deletes the cookie of a sign-in at a provider. */
export const clearProviderCookie = (reply: FastifyReply, publicUrl: string, state: string): void =>
  sendCookie(reply, publicUrl, suffixOf(state), '', 0);
