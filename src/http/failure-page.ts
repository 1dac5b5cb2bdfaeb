import { type MessageName, messages, type Refusal } from '#core/messages.ts';

/** What to do next, where there is something. */
const advice: Partial<Record<MessageName, string>> = {
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

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (letter) => escapes[letter] ?? '');

/** The link that an address below it belongs to, to go back to. */
const linkOf = (url: string) => /^\/[sp]\/[A-Za-z0-9_-]+(?=\/)/.exec(url)?.[0];

/** A page that says what a problem document says, for a person. */
export function failurePage(refusal: Refusal, url: string): string {
  const { title, status } = messages[refusal.says];
  const detail = refusal.message === title ? '' : refusal.message;
  const paragraphs = [detail, advice[refusal.says] ?? ''].filter(Boolean).map((text) => `<p>${escapeHtml(text)}</p>`);
  const back = linkOf(url);
  const again = back && status !== 404 && status !== 410 ? `<p><a class="button" href="${escapeHtml(back)}">Open the link</a></p>` : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/assets/failure.css">
</head>
<body>
<main class="card">
<h1>${escapeHtml(title)}</h1>
${paragraphs.join('\n')}
${again}
</main>
</body>
</html>
`;
}
