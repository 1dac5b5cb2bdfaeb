import type { FastifyInstance } from 'fastify';
import { Refusal } from '#core/messages.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import { serviceProvider, serviceProviderMetadata } from '#core/saml/service-provider.ts';
import { redirectUrlOf } from '#features/provider-sign-ins/redirect-url.ts';
import { findProfileRef } from '#features/visits/sign-in/find-profile-ref.ts';
import { parkProviderResponse } from '#features/visits/sign-in/provider-sign-in.ts';
import { providerQuery } from '#http/provider-query.ts';
import { redirect } from '#http/redirect.ts';
import { addFormParser } from './form.ts';
import { providerCookie } from './provider-cookies.ts';
import { finishSignIn, type ProfileRequest, profileIdOf } from './provider-responses.ts';
import { usesHttps } from './visitor-cookies.ts';
import type { VisitorParts } from './visitor-request.ts';

const protocol = 'saml';
/** Bytes of a form: a response of 256 KiB, of which a part is percent-encoded. */
const maxForm = 400 << 10;

const maxState = 80; // characters: ours are shorter, and a provider that begins a sign-in may send any text

/** Returns the state of a sign-in that this browser may have begun here, or ''. */
function relayStateOf(parameters: URLSearchParams): string {
  const state = parameters.get('RelayState') ?? '';
  return state.length <= maxState ? state : '';
}

/** Returns the form of a request. @throws Refusal (400) */
function formOf({ body }: ProfileRequest): URLSearchParams {
  if (body instanceof URLSearchParams && body.has('SAMLResponse')) return body;
  throw new Refusal('requestMalformed', 'The body must be a form with SAMLResponse.');
}

/**
 * Adds the routes to which SAML providers send browsers, and the route of the metadata for providers. Browsers send cookies with a POST
 * from a page of the provider only over HTTPS. Without HTTPS and the cookie, Postern stores the verified response and redirects the
 * browser, which then sends the cookie.
 */
export function samlRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const { ports } = parts;
  app.register(async (scope) => {
    addFormParser(scope);
    scope.post('/sign-in/saml/:profileId', { bodyLimit: maxForm }, async (request: ProfileRequest, reply) => {
      const [parameters, publicUrl] = [formOf(request), ports.links.publicUrl()];
      const state = relayStateOf(parameters);
      if (usesHttps(publicUrl) || providerCookie(request, publicUrl, { protocol, state }) !== null) {
        parameters.delete('parked');
        return finishSignIn(request, reply, parts, { protocol, state, parameters });
      }
      const profileId = profileIdOf(request);
      const reference = await parkProviderResponse(ports, { profileId, protocol, parameters, address: request.ip });
      return redirect(
        reply,
        `${redirectUrlOf(publicUrl, protocol, profileId)}?${new URLSearchParams({ parked: reference, RelayState: state })}`,
      );
    });
  });
  app.get('/sign-in/saml/:profileId', (request: ProfileRequest, reply) => {
    const parameters = providerQuery(request);
    if (!parameters.has('parked')) throw new Refusal('notFound');
    return finishSignIn(request, reply, parts, { protocol, state: relayStateOf(parameters), parameters });
  });
  app.get('/sign-in/saml/:profileId/metadata', async (request: ProfileRequest, reply) => {
    const profileId = profileIdOf(request);
    const profile = await findProfileRef(ports.store.read, profileId);
    if (profile?.type_id !== profileTypes.SAML) throw new Refusal('notFound');
    const metadata = serviceProviderMetadata(serviceProvider(redirectUrlOf(ports.links.publicUrl(), protocol, profileId)));
    return reply.type('application/samlmetadata+xml; charset=utf-8').send(metadata);
  });
}
