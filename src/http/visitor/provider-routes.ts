import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';
import { beginProviderSignIn, completeProviderSignIn, failureUrl } from '#features/visits/sign-in/provider-sign-in.ts';
import { endSessionsByProvider } from '#features/visits/sign-in/provider-sign-out.ts';
import { clearProviderCookie, providerCookie, setProviderCookie } from './provider-cookies.ts';
import { setSessionCookie } from './visitor-cookies.ts';
import { type VisitorParts, visitorRequestOf } from './visitor-request.ts';

const maxQuery = 8192; // characters: longer than any code

/** Sends the browser to another address. The response must not be stored: the address contains secrets of this sign-in. */
const redirect = (reply: FastifyReply, url: string) => reply.header('cache-control', 'no-store').redirect(url, 303);

/** Returns the query of a request. Unknown parameters are ignored (RFC 6749, 4.1.2). @throws Refusal (400) if it is too long */
function queryOf({ url }: FastifyRequest): URLSearchParams {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  if (query.length > maxQuery) throw new Refusal('requestMalformed', 'The address is too long.');
  return new URLSearchParams(query);
}

/** Returns the id of the login profile in an address. @throws Refusal (404) if it is none */
function profileIdOf(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new Refusal('notFound');
  return Number(text);
}

/** Adds the route with which a sign-in at a provider begins. */
function startRoute(app: FastifyInstance, parts: VisitorParts, at: 'share' | 'portal'): void {
  const { ports } = parts;
  app.get(`/${at === 'share' ? 's' : 'p'}/:viewId/sign-in/start`, async (request, reply) => {
    const { url, cookie } = await beginProviderSignIn(ports, visitorRequestOf(request, parts), at);
    if (cookie) setProviderCookie(request, reply, ports.links.publicUrl(), cookie);
    return redirect(reply, url);
  });
}

/** Adds the routes of sign-ins at OpenID providers. A refused sign-in leads back to the page of the link, which says why. */
export function providerRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const { ports } = parts;
  startRoute(app, parts, 'share');
  startRoute(app, parts, 'portal');
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_: FastifyRequest, body: string) => new URLSearchParams(body),
    );
    scope.post<{ Params: { profileId: string } }>('/sign-in/oidc/:profileId/logout', async (request, reply) => {
      const token = request.body instanceof URLSearchParams ? request.body.get('logout_token') : null;
      if (!token) throw new Refusal('requestMalformed', 'The body must be a form with logout_token.');
      const profileId = profileIdOf(request.params.profileId);
      await endSessionsByProvider(ports, { profileId, logoutToken: token, address: request.ip, requestId: request.id });
      return reply.header('cache-control', 'no-store').code(200).send();
    });
  });
  app.get<{ Params: { profileId: string } }>('/sign-in/oidc/:profileId', async (request, reply) => {
    const publicUrl = ports.links.publicUrl();
    const query = queryOf(request);
    // Whatever the outcome: a sign-in ends once.
    clearProviderCookie(reply, publicUrl, query.get('state') ?? '');
    const { viewId: _, ...visitorRequest } = visitorRequestOf(request, parts);
    const back = {
      profileId: profileIdOf(request.params.profileId),
      query,
      cookieOf: (state: string) => providerCookie(request, publicUrl, state),
      address: request.ip,
      requestId: request.id,
    };
    const { pageUrl, session, refusal } = await completeProviderSignIn(ports, back, visitorRequest);
    if (session) await setSessionCookie(request, reply, ports.store, publicUrl, session);
    return redirect(reply, refusal ? failureUrl(pageUrl, refusal, request.id) : pageUrl);
  });
}
