import { messages, type Refusal } from '#core/messages.ts';
import { failureTexts } from '#core/translations/failure-messages.ts';
import { cardPage, escapeHtml, type Reader } from './card-page.ts';

/** The link that an address below it belongs to, to go back to. */
const linkOf = (url: string) => /^\/[sp]\/[A-Za-z0-9_-]+(?=\/)/.exec(url)?.[0];

/** A page that says what a problem document says, for a person, in their language. */
export function failurePage(refusal: Refusal, url: string, reader: Reader): string {
  const { title, next } = failureTexts(refusal.messageName);
  const { status } = messages[refusal.messageName];
  const detail = title === 'wentWrong' ? [escapeHtml(refusal.message)] : [];
  const wait = refusal.extras.retryAfter === undefined ? [] : [escapeHtml(reader.say('waitSeconds', { count: refusal.extras.retryAfter }))];
  const back = linkOf(url);
  const again =
    back && status !== 404 && status !== 410
      ? [`<a class="button" href="${escapeHtml(back)}">${escapeHtml(reader.say('openLink'))}</a>`]
      : [];
  return cardPage(reader, reader.say(title), [...detail, escapeHtml(reader.say(next)), ...wait, ...again]);
}
