import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { escapeHtml } from '#core/escape-html.ts';
import { Refusal } from '#core/messages.ts';
import { allMailMessages } from '#core/translations/mail/all-mail-messages.ts';
import { parseUnsubscription, type Unsubscription, unsubscribe } from '#features/mail/unsubscribe.ts';
import { cardPage, readerOf } from '#http/pages/card-page.ts';
import type { VisitorParts } from './visitor-request.ts';

const url = '/unsubscribe/:token';

/** Returns whether a path is below /unsubscribe: a mail program of any origin may send a POST there (RFC 8058). */
export const isUnsubscribePath = (path: string): boolean => path.startsWith('/unsubscribe/');

/**
 * Adds the page where a recipient unsubscribes from alerts. Only a POST unsubscribes, from the button of the page or from a mail program:
 * mail scanners send a GET to every address.
 */
export function unsubscribeRoutes(app: FastifyInstance, { ports }: VisitorParts): void {
  function unsubscriptionOf(request: FastifyRequest): Unsubscription {
    const { token } = request.params as { token: string }; // the route has this parameter
    const unsubscription = parseUnsubscription(ports, token);
    if (!unsubscription) throw new Refusal('linkUnknown');
    return unsubscription;
  }
  function sendCard(request: FastifyRequest, reply: FastifyReply, title: 'unsubscribe' | 'unsubscribed', content: string): FastifyReply {
    const reader = readerOf(request);
    const texts = allMailMessages[reader.language];
    return reply
      .type('text/html; charset=utf-8')
      .send(cardPage(reader, texts[title], [content.replace('{button}', escapeHtml(texts.unsubscribe))]));
  }
  app.register(async (scope) => {
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null)); // the body is not needed
    scope.get(url, async (request, reply) => {
      unsubscriptionOf(request);
      return sendCard(request, reply, 'unsubscribe', '<form method="post"><button class="button">{button}</button></form>');
    });
    scope.post(url, async (request, reply) => {
      await unsubscribe(ports, unsubscriptionOf(request), ports.clock.now());
      return sendCard(request, reply, 'unsubscribed', '');
    });
  });
}
