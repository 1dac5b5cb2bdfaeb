import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';
import { ProviderAddress, SignInMethods } from '#core/records/operator.ts';
import { CurrentPassword } from '#core/records/second-factor.ts';
import { checkOperation } from '#features/callers/check-caller.ts';
import { maxOperatorSessionTime } from '#features/operators/operator-session.ts';
import { beginOperatorSignIn, completeOperatorSignIn, operatorProviderHost, operatorToLink } from '#features/operators/provider-sign-in.ts';
import { providerSignInTime } from '#features/provider-sign-ins/pending-sign-in.ts';
import { maxPublicBodyBytes } from '#http/body-limits.ts';
import { providerQuery } from '#http/provider-query.ts';
import { redirect } from '#http/redirect.ts';
import { NoParameters, readQuery, validator } from '#http/validation.ts';
import type { Ports } from '#ports/ports.ts';
import { authenticateCaller } from './authenticate-caller.ts';
import { isSecureAddress, setConsoleCookie } from './console-cookie.ts';

const plainName = 'postern-operator-provider';

const nameOf = (secure: boolean) => (secure ? `__Host-${plainName}` : plainName);

/** Sets the cookie of a started sign-in, or deletes it. SameSite=Lax: the browser sends the cookie when it comes back from the provider. */
function sendCookie(reply: FastifyReply, secure: boolean, value: string): void {
  const cookie = { name: nameOf(secure), value, maxAge: value === '' ? 0 : providerSignInTime / 1000 };
  reply.header('set-cookie', stringifySetCookie({ ...cookie, httpOnly: true, sameSite: 'lax', path: '/', secure }));
}

/** Adds the routes with which operators sign in at the configured provider, or connect their account to a user of it. */
export function operatorProviderRoutes(api: FastifyInstance, ports: Ports): void {
  const checkNoQuery = validator(NoParameters);
  const checkPassword = validator(CurrentPassword);
  const { publicUrl } = ports.links;
  /** Whether the address begins with https. Not by the header Origin: a browser that comes back from the provider does not send it. */
  const secureOf = (request: FastifyRequest) => isSecureAddress(request, publicUrl());
  /** The console may have an address of its own: the browser comes back to the address at which the sign-in began. */
  const finishUrl = (request: FastifyRequest) => `${secureOf(request) ? 'https' : 'http'}://${request.host}/api/v1/operator/signIn/finish`;
  const redirectToFailure = (reply: FastifyReply, { messageName }: Refusal, request: FastifyRequest) =>
    redirect(reply, `/console/#sign-in=${messageName}.${request.id}`);

  /** Begins a sign-in. @returns the address at the provider to which the browser goes */
  async function begin(request: FastifyRequest, reply: FastifyReply, linkTo: Parameters<typeof beginOperatorSignIn>[2]): Promise<string> {
    const { url, sealed } = await beginOperatorSignIn(ports, finishUrl(request), linkTo);
    sendCookie(reply, secureOf(request), sealed);
    return url;
  }

  api.get('/operator/signInMethods', { config: { open: true }, schema: { response: { 200: SignInMethods } } }, async (request) => {
    checkNoQuery(readQuery(request.url, NoParameters));
    return { provider: operatorProviderHost(ports) };
  });
  api.get('/operator/signIn/start', { config: { open: true } }, async (request, reply) => {
    checkNoQuery(readQuery(request.url, NoParameters));
    try {
      return redirect(reply, await begin(request, reply, null));
    } catch (cause) {
      if (!(cause instanceof Refusal) || cause.messageName === 'notFound') throw cause;
      return redirectToFailure(reply, cause, request);
    }
  });
  const linkOptions = { bodyLimit: maxPublicBodyBytes, schema: { response: { 200: ProviderAddress } } };
  api.post<{ Body: CurrentPassword }>('/operator/linkProvider', linkOptions, async (request, reply) => {
    const caller = request.caller ?? (await authenticateCaller(request, ports));
    checkOperation(caller, { role: 'reader' });
    checkNoQuery(readQuery(request.url, NoParameters));
    checkPassword(request.body ?? {});
    return { url: await begin(request, reply, await operatorToLink(ports, caller, request.body.currentPassword)) };
  });
  api.get('/operator/signIn/finish', { config: { open: true } }, async (request, reply) => {
    const query = providerQuery(request);
    const secure = secureOf(request);
    const sealed = parseCookie(request.headers.cookie ?? '')[nameOf(secure)] ?? null;
    sendCookie(reply, secure, '');
    try {
      const origin = { address: request.ip, requestId: request.id };
      const result = await completeOperatorSignIn(ports, sealed, query, origin);
      if (!result) return redirect(reply, '/console/settings/account');
      setConsoleCookie(request, reply, publicUrl(), result.token, maxOperatorSessionTime / 1000);
      return redirect(reply, '/console/');
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause;
      return redirectToFailure(reply, cause, request);
    }
  });
}
