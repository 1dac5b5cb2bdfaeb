import type { FastifyInstance, FastifyReply } from 'fastify';
import { beginTestSignIn, type TestOutcome } from '#features/visits/sign-in/test-sign-in.ts';
import { testSignInPage } from '#http/pages/test-sign-in-page.ts';
import { providerQuery } from '#http/provider-query.ts';
import { redirect } from '#http/redirect.ts';
import { setProviderCookie } from './provider-cookies.ts';
import type { VisitorParts } from './visitor-request.ts';

/** Sends the result of a test. The response must not be stored: it identifies the user. */
export const sendTestOutcome = (reply: FastifyReply, outcome: TestOutcome): FastifyReply =>
  reply.header('cache-control', 'no-store').type('text/html; charset=utf-8').send(testSignInPage(outcome));

/** Adds the route with which an admin begins a test of a sign-in. */
export function testSignInRoutes(app: FastifyInstance, { ports }: VisitorParts): void {
  app.get('/sign-in/test', async (request, reply) => {
    const start = await beginTestSignIn(ports, providerQuery(request).get('token') ?? '', request.ip);
    if ('problem' in start) return sendTestOutcome(reply, start);
    if (start.cookie) setProviderCookie(request, reply, ports.links.publicUrl(), start.cookie);
    return redirect(reply, start.url);
  });
}
