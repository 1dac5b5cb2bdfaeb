import type { FastifyReply, FastifyRequest } from 'fastify';
import { messages, type Refusal } from '#core/messages.ts';
import { preferencesOf } from '#http/content-negotiation.ts';
import { readerOf } from '#http/pages/card-page.ts';
import { failurePage } from '#http/pages/failure-page.ts';
import { refusalHeaders, sendProblem } from '#http/problem.ts';
import type { Clock } from '#ports/clock.ts';

/** The headers of responses to visitors. Some routes replace the value of one of them. */
export const linkHeaders = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'private, no-store',
} as const;

const basicRealm = 'Basic realm="Postern", charset="UTF-8"';

/** Returns whether the client prefers a page to data. A client that accepts anything gets data. */
export function prefersHtml(request: FastifyRequest): boolean {
  return preferencesOf(request).mediaType(['application/json', 'text/html']) === 'text/html';
}

/** Returns the challenge of a 401. A browser gets one that does not open the browser's own dialog. */
function challengeOf(request: FastifyRequest): string {
  return request.headers['sec-fetch-mode'] === undefined && !prefersHtml(request) ? basicRealm : 'Postern';
}

/** Sends a refusal at a link, as problem+json or as a page that explains it. */
export function sendVisitorProblem(request: FastifyRequest, reply: FastifyReply, refusal: Refusal, clock: Clock): FastifyReply {
  if (messages[refusal.messageName].status === 401) reply.header('www-authenticate', challengeOf(request));
  if (!prefersHtml(request)) return sendProblem(request, reply, refusal, clock.now());
  request.refusal = refusal.messageName;
  reply.code(messages[refusal.messageName].status).headers(refusalHeaders(refusal)).type('text/html; charset=utf-8');
  return reply.send(failurePage(refusal, request.url, readerOf(request)));
}
