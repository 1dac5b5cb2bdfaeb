import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';
import { completeProviderSignIn, failureUrl } from '#features/visits/sign-in/provider-sign-in.ts';
import { completeTestSignIn } from '#features/visits/sign-in/test-sign-in.ts';
import { redirect } from '#http/redirect.ts';
import { clearProviderCookie, providerCookie, type ReturningSignIn } from './provider-cookies.ts';
import { sendTestOutcome } from './test-sign-in-routes.ts';
import { setSessionCookie } from './visitor-cookies.ts';
import { type VisitorParts, visitorRequestOf } from './visitor-request.ts';

/** A request to an address of a login profile. */
export type ProfileRequest = FastifyRequest<{ Params: { profileId: string } }>;

/** Returns the id of the login profile in an address. @throws Refusal (404) if the address contains no valid id */
export function profileIdOf({ params: { profileId } }: ProfileRequest): number {
  if (!/^[1-9]\d{0,14}$/.test(profileId)) throw new Refusal('notFound');
  return Number(profileId);
}

/**
 * Completes a sign-in, and sends the browser to its link or portal. A refused sign-in leads there, too, and the page shows the reason. A
 * test sign-in of an admin ends with a page of its own.
 * @throws Refusal as `profileIdOf`, `completeTestSignIn` and `completeProviderSignIn`
 */
export async function finishSignIn(
  request: ProfileRequest,
  reply: FastifyReply,
  parts: VisitorParts,
  signIn: ReturningSignIn & { readonly parameters: URLSearchParams },
): Promise<FastifyReply> {
  const { ports } = parts;
  const publicUrl = ports.links.publicUrl();
  clearProviderCookie(reply, publicUrl, signIn); // whatever the outcome: a browser can complete a sign-in only once
  const { viewId: _, ...visitorRequest } = visitorRequestOf(request, parts);
  const providerReturn = {
    ...signIn,
    profileId: profileIdOf(request),
    cookieOf: (state: string) => providerCookie(request, publicUrl, { protocol: signIn.protocol, state }),
    address: request.ip,
    requestId: request.id,
  };
  const test = await completeTestSignIn(ports, providerReturn);
  if (test) return sendTestOutcome(reply, test);
  const { pageUrl, session, refusal } = await completeProviderSignIn(ports, providerReturn, visitorRequest);
  if (session) await setSessionCookie(request, reply, ports.store, publicUrl, session);
  return redirect(reply, refusal ? failureUrl(pageUrl, refusal, request.id) : pageUrl);
}
