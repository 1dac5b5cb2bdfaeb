import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';
import { completeProviderSignIn, failureUrl } from '#features/visits/sign-in/provider-sign-in.ts';
import { clearProviderCookie, providerCookie, type ReturningSignIn } from './provider-cookies.ts';
import { setSessionCookie } from './visitor-cookies.ts';
import { type VisitorParts, visitorRequestOf } from './visitor-request.ts';

/** A request to an address of a login profile. */
export type ProfileRequest = FastifyRequest<{ Params: { profileId: string } }>;

const maxFields = 20; // of a form: providers send two or three
const maxQuery = 8192; // characters: longer than any code

/** Returns the query of a request. Unknown parameters are ignored (RFC 6749, 4.1.2). @throws Refusal (400) if it is too long */
export function queryOf({ url }: ProfileRequest): URLSearchParams {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  if (query.length > maxQuery) throw new Refusal('requestMalformed', 'The address is too long.');
  return new URLSearchParams(query);
}

/** Returns the id of the login profile in an address. @throws Refusal (404) if it is none */
export function profileIdOf({ params: { profileId } }: ProfileRequest): number {
  if (!/^[1-9]\d{0,14}$/.test(profileId)) throw new Refusal('notFound');
  return Number(profileId);
}

/** Sends the browser to another address. The response must not be stored: the address contains secrets of this sign-in. */
export const redirect = (reply: FastifyReply, url: string) => reply.header('cache-control', 'no-store').redirect(url, 303);

/** Completes a sign-in, and sends the browser to the page of its link. A refused one leads there, too, and the page says why. */
export async function finishSignIn(
  request: ProfileRequest,
  reply: FastifyReply,
  parts: VisitorParts,
  signIn: ReturningSignIn & { readonly parameters: URLSearchParams },
): Promise<FastifyReply> {
  const { ports } = parts;
  const publicUrl = ports.links.publicUrl();
  clearProviderCookie(reply, publicUrl, signIn); // whatever the outcome: a sign-in ends once
  const { viewId: _, ...visitorRequest } = visitorRequestOf(request, parts);
  const back = {
    ...signIn,
    profileId: profileIdOf(request),
    cookieOf: (state: string) => providerCookie(request, publicUrl, { protocol: signIn.protocol, state }),
    address: request.ip,
    requestId: request.id,
  };
  const { pageUrl, session, refusal } = await completeProviderSignIn(ports, back, visitorRequest);
  if (session) await setSessionCookie(request, reply, ports.store, publicUrl, session);
  return redirect(reply, refusal ? failureUrl(pageUrl, refusal, request.id) : pageUrl);
}

/** Parses a form. The time to parse one of thousands of fields grows with the square of their number. @throws Refusal (400) */
function parseForm(body: string): URLSearchParams {
  if (body.split('&', maxFields + 1).length > maxFields)
    throw new Refusal('requestMalformed', `A form has at most ${maxFields} fields here.`);
  return new URLSearchParams(body);
}

/** Reads the bodies of the routes of a scope as forms. */
export function readForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, async (_: FastifyRequest, body: string) =>
    parseForm(body),
  );
}
