import { escapeHtml } from '#core/escape-html.ts';
import { messages, type Refusal } from '#core/messages.ts';
import { failureMessageKeys } from '#core/translations/failure-messages.ts';
import { cardPage, type Reader } from './card-page.ts';

/** Returns the path of the link or portal that an address is below, or undefined. The link or portal itself gives undefined. */
const linkOf = (url: string) => /^\/[sp]\/[A-Za-z0-9_-]+(?=\/)/.exec(url)?.[0];

/** Returns a page that explains a refusal in the reader's language. For the general text `wentWrong`, it also shows the English message. */
export function failurePage(refusal: Refusal, url: string, reader: Reader): string {
  const { title, next } = failureMessageKeys(refusal.messageName);
  const { status } = messages[refusal.messageName];
  const detail = title === 'wentWrong' ? [escapeHtml(refusal.message)] : [];
  const wait =
    refusal.extras.retryAfter === undefined ? [] : [escapeHtml(reader.translate('waitSeconds', { count: refusal.extras.retryAfter }))];
  const link = linkOf(url);
  const button =
    link && status !== 404 && status !== 410
      ? [`<a class="button" href="${escapeHtml(link)}">${escapeHtml(reader.translate('openLink'))}</a>`]
      : [];
  return cardPage(reader, reader.translate(title), [...detail, escapeHtml(reader.translate(next)), ...wait, ...button]);
}
