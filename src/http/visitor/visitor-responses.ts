import type { FastifyReply, FastifyRequest } from 'fastify';
import { messages, type Refusal } from '#core/messages.ts';
import { readerOf } from '#http/pages/card-page.ts';
import { failurePage } from '#http/pages/failure-page.ts';
import { preferencesOf } from '#http/preferences.ts';
import { refusalHeaders, sendProblem } from '#http/problem.ts';
import type { Clock } from '#ports/clock.ts';

/** The headers of every answer at a link (visit.md). */
export const linkHeaders = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'private, no-store',
} as const;

const basicRealm = 'Basic realm="Postern", charset="UTF-8"';

/** Does the client ask for a page rather than data? A client that takes anything gets data. */
export function asksForHtml(request: FastifyRequest): boolean {
  return preferencesOf(request).mediaType(['application/json', 'text/html']) === 'text/html';
}

/** No browser is made to open a dialog of its own. */
function challengeOf(request: FastifyRequest): string {
  return request.headers['sec-fetch-mode'] === undefined && !asksForHtml(request) ? basicRealm : 'Postern';
}

/** Answers a refusal at a link: problem+json, or a page that says the same. */
export function sendVisitorProblem(request: FastifyRequest, reply: FastifyReply, refusal: Refusal, clock: Clock): FastifyReply {
  if (messages[refusal.messageName].status === 401) reply.header('www-authenticate', challengeOf(request));
  if (!asksForHtml(request)) return sendProblem(request, reply, refusal, clock.now());
  request.refusal = refusal.messageName;
  reply.code(messages[refusal.messageName].status).headers(refusalHeaders(refusal)).type('text/html; charset=utf-8');
  return reply.send(failurePage(refusal, request.url, readerOf(request)));
}
