import type { FastifyInstance } from 'fastify';
import { Refusal } from '#core/messages.ts';
import { beginProviderSignIn } from '#features/visits/sign-in/provider-sign-in.ts';
import { endSessionsByProvider } from '#features/visits/sign-in/provider-sign-out.ts';
import { providerQuery } from '#http/provider-query.ts';
import { redirect } from '#http/redirect.ts';
import { addFormParser } from './form.ts';
import { setProviderCookie } from './provider-cookies.ts';
import { finishSignIn, type ProfileRequest, profileIdOf } from './provider-responses.ts';
import { type VisitorParts, visitorRequestOf } from './visitor-request.ts';

/** Adds the route with which a sign-in at a provider begins. */
function startRoute(app: FastifyInstance, parts: VisitorParts, at: 'share' | 'portal'): void {
  const { ports } = parts;
  app.get(`/${at === 'share' ? 's' : 'p'}/:viewId/sign-in/start`, async (request, reply) => {
    const { url, cookie } = await beginProviderSignIn(ports, visitorRequestOf(request, parts), at);
    if (cookie) setProviderCookie(request, reply, ports.links.publicUrl(), cookie);
    return redirect(reply, url);
  });
}

/** Adds the routes with which sign-ins at providers begin, and the routes to which OpenID providers send browsers and logout tokens. */
export function providerRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const { ports } = parts;
  startRoute(app, parts, 'share');
  startRoute(app, parts, 'portal');
  app.register(async (scope) => {
    addFormParser(scope);
    scope.post('/sign-in/oidc/:profileId/logout', async (request: ProfileRequest, reply) => {
      const token = request.body instanceof URLSearchParams ? request.body.get('logout_token') : null;
      if (!token) throw new Refusal('requestMalformed', 'The body must be a form with logout_token.');
      const profileId = profileIdOf(request);
      await endSessionsByProvider(ports, { profileId, logoutToken: token, address: request.ip, requestId: request.id });
      return reply.header('cache-control', 'no-store').code(200).send();
    });
  });
  app.get('/sign-in/oidc/:profileId', (request: ProfileRequest, reply) => {
    const parameters = providerQuery(request);
    return finishSignIn(request, reply, parts, { protocol: 'oidc', state: parameters.get('state') ?? '', parameters });
  });
}
