import { parseCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { providerSignInTime } from '#features/provider-sign-ins/pending-sign-in.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { ProviderStart } from '#features/visits/sign-in/provider-sign-in.ts';
import type { RedirectSignIn } from '#ports/sign-in.ts';
import { cookiePrefix, sendCookie } from './visitor-cookies.ts';

const maxSignIns = 4; // of one browser and protocol at a time: a cookie has about 0.6 kB, and headers have a limit
const suffixLength = 16; // characters

/** A sign-in that a browser completes when it comes back from the provider. */
export interface ReturningSignIn {
  readonly protocol: RedirectSignIn['protocol'];
  readonly state: string;
}

const suffixStart = (protocol: RedirectSignIn['protocol']) => `${protocol}-`;

const suffixOf = ({ protocol, state }: ReturningSignIn) =>
  suffixStart(protocol) +
  sha256(state)
    .slice(0, suffixLength)
    .replace(/[^\w-]/g, '_');

/** The page of a SAML provider sends the browser back with a POST. */
const isSentAcrossSites = ({ protocol }: Pick<ReturningSignIn, 'protocol'>) => protocol === 'saml';

/** Returns the cookie of a sign-in, or null. */
export const providerCookie = ({ headers }: FastifyRequest, publicUrl: string, signIn: ReturningSignIn): string | null =>
  parseCookie(headers.cookie ?? '')[cookiePrefix(publicUrl) + suffixOf(signIn)] ?? null;

/** Sets the cookie of a sign-in at a provider. If the browser has four cookies of this protocol, deletes the oldest. */
export function setProviderCookie(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
  { state, protocol, value: sealed }: NonNullable<ProviderStart['cookie']>,
): void {
  const prefix = cookiePrefix(publicUrl);
  const cookieNames = Object.keys(parseCookie(headers.cookie ?? '')).filter((name) => name.startsWith(prefix + suffixStart(protocol)));
  // A browser sends its oldest cookies first (RFC 6265, 5.4).
  for (const name of cookieNames.slice(0, Math.max(0, cookieNames.length - maxSignIns + 1)))
    sendCookie(reply, publicUrl, name.slice(prefix.length), '', 0, isSentAcrossSites({ protocol }));
  sendCookie(reply, publicUrl, suffixOf({ protocol, state }), sealed, providerSignInTime / 1000, isSentAcrossSites({ protocol }));
}

/** Deletes the cookie of a sign-in at a provider. */
export const clearProviderCookie = (reply: FastifyReply, publicUrl: string, signIn: ReturningSignIn): void =>
  sendCookie(reply, publicUrl, suffixOf(signIn), '', 0, isSentAcrossSites(signIn));
