import { type MessageName, messages, type Refusal } from '#core/messages.ts';
import { cardPage, escapeHtml } from './card-page.ts';

/** What to do next, where there is something. */
const advice: Partial<Record<MessageName, string>> = {
  notFound: 'Open the link that you were sent, whole.',
  linkUnknown: 'Check that the address was copied whole, or ask whoever sent it for a new link.',
  linkEnded: 'Ask whoever sent the link for a new one.',
  addressRefused: 'This link opens only from certain networks. Try again from the office or its VPN.',
  notAdmitted: 'You are signed in as somebody whom this link does not admit. Ask whoever sent it to add you.',
  signInNeeded: 'Open the link itself and sign in there.',
  permissionOff: 'Ask whoever sent the link if you need this.',
  itemAbsent: 'It may have been renamed or removed. Go back to the list.',
  tooManyFailures: 'Wait a little, then try again.',
  storageAway: 'Nothing is lost. Try again in a few minutes.',
  signInBusy: 'Try again in a few seconds.',
};

/** The link that an address below it belongs to, to go back to. */
const linkOf = (url: string) => /^\/[sp]\/[A-Za-z0-9_-]+(?=\/)/.exec(url)?.[0];

/** A page that says what a problem document says, for a person. */
export function failurePage(refusal: Refusal, url: string): string {
  const { title, status } = messages[refusal.says];
  const detail = refusal.message === title ? '' : refusal.message;
  const paragraphs = [detail, advice[refusal.says] ?? ''].filter(Boolean).map(escapeHtml);
  const back = linkOf(url);
  const again = back && status !== 404 && status !== 410 ? [`<a class="button" href="${escapeHtml(back)}">Open the link</a>`] : [];
  return cardPage(title, [...paragraphs, ...again]);
}
