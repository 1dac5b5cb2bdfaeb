import { escapeHtml } from '#core/escape-html.ts';
import { formatList } from '#core/list-text.ts';
import type { TestOutcome } from '#features/visits/sign-in/test-sign-in.ts';
import { cardPageOf } from './card-page.ts';

const longestValue = 500; // characters
/** Claims that only concern the protocol. */
const hiddenClaims: ReadonlySet<string> = new Set([
  ...['aud', 'azp', 'exp', 'iat', 'nbf', 'auth_time', 'nonce', 'at_hash', 'c_hash', 's_hash', 'sid', 'jti'],
]);

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)} …`;
}

const row = ([name, value]: readonly [string, string]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value) || '–'}</dd>`;
const list = (rows: readonly (readonly [string, string])[]) => `<dl>${rows.map(row).join('')}</dl>`;

/** Returns the page with the result of a test sign-in, for an admin. */
export function testSignInPage({ identity, problem, statedValues: stated }: TestOutcome): string {
  const values = Object.entries(stated)
    .filter(([name]) => !hiddenClaims.has(name))
    .map(([name, value]) => [name, textOf(value)] as const);
  const parts = [
    identity ? '<p>The provider and this login profile work together.</p>' : `<p role="alert">${escapeHtml(problem)}</p>`,
    identity
      ? list([
          ['Name', identity.name],
          ['E-mail address', identity.email],
          ['To give this user access, enter one of these under Users of a share (REST API: userNames)', formatList(identity.names)],
          ['or one of these under Groups of a share (REST API: groupNames)', formatList(identity.groups)],
        ])
      : '',
    values.length > 0 ? `<h2>Information from the provider</h2>${list(values)}` : '',
    '<p>This was a test: you are not signed in to Postern. You can close this window.</p>',
  ];
  return cardPageOf({ language: 'en' }, identity ? 'The sign-in works' : 'The sign-in failed', parts.join('\n'));
}
