import type { Language } from '#core/translations/languages.ts';
import { allMailMessages } from '#core/translations/mail/all-mail-messages.ts';
import { createTranslate } from '#core/translations/translate.ts';
import { type ComposedMail, oneLine } from './mail-document.ts';
import { createFormats } from './mail-formats.ts';

/** The actions that an alert reports. */
export type AlertAction = 'upload' | 'createFolder' | 'download' | 'downloadFolder' | 'view' | 'rename' | 'delete';

export interface AlertedAction {
  readonly action: AlertAction;
  /** Path below the share, as `endOfPath` returns it; `/`: the share itself. */
  readonly path: string;
  /** New name of a rename, as `endOfPath` returns it, else empty. */
  readonly newName: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly bytes: number | null;
  /** Display name of the visitor; empty: the visitor had not signed in. */
  readonly visitor: string;
}

/** What a mail with alerts says: the actions at one share, usually those of one visitor. */
export interface AlertContent {
  readonly shareTitle: string;
  readonly viewUrl: string;
  /** Display names of the visitors, each once. An empty name: a visitor who had not signed in. */
  readonly visitors: readonly string[];
  readonly addresses: readonly string[];
  /** The first actions, at most `maxNamedActions`. */
  readonly namedActions: readonly AlertedAction[];
  /** The number of all actions, by kind. */
  readonly counts: Readonly<Partial<Record<AlertAction, number>>>;
}

/** The most actions that a mail lists. Further actions are only counted. */
export const maxNamedActions = 100;
const maxNamedVisitors = 10;
const maxAddresses = 10;
const maxPathLength = 200; // characters; with a hundred paths of 4,000 characters, a mail would have more than a megabyte

/**
 * Returns a path or name for a mail. Replaces the start of a long text by an ellipsis: the end contains the name of the file, or at least
 * its extension.
 */
export function endOfPath(path: string): string {
  const characters = [...path];
  return characters.length <= maxPathLength ? path : `…${characters.slice(1 - maxPathLength).join('')}`;
}

const countTexts = [
  ['upload', 'uploads'],
  ['createFolder', 'folders'],
  ['download', 'downloads'],
  ['downloadFolder', 'downloads'],
  ['view', 'views'],
  ['rename', 'renames'],
  ['delete', 'deletions'],
] as const;

/** Returns the subject and the content of a mail with alerts. The link in the footer, by which a recipient unsubscribes, is added later. */
export function alertMail(
  { shareTitle, viewUrl, visitors, addresses, namedActions, counts }: AlertContent,
  language: Language,
  timeZone: string,
): ComposedMail {
  const translate = createTranslate(allMailMessages[language], language);
  const formats = createFormats(language, timeZone);
  const sums = new Map<(typeof countTexts)[number][1], number>();
  for (const [action, text] of countTexts) {
    const count = counts[action] ?? 0;
    if (count > 0) sums.set(text, (sums.get(text) ?? 0) + count);
  }
  const summary = formats.list([...sums].map(([text, count]) => translate(text, { count })));
  const total = [...sums.values()].reduce((sum, count) => sum + count, 0);
  const nameOf = (visitor: string) => (visitor === '' ? translate('anonymous') : visitor);
  const items = namedActions.map(({ action, path, newName, at, bytes, visitor }) => {
    const place = path === '/' ? translate('entireShare') : path;
    const text = newName === '' ? place : translate('renamedTo', { from: place, to: newName });
    const size = bytes === null ? '' : `, ${formats.size(bytes)}`;
    const by = visitors.length > 1 ? `, ${nameOf(visitor)}` : '';
    return { text: `${translate(action)}: ${text}`, note: `${formats.time(at)}${size}${by}` };
  });
  const more = total - namedActions.length;
  const who = formats.list(visitors.slice(0, maxNamedVisitors).map(nameOf));
  const title = `${oneLine(shareTitle)}: ${summary}`;
  return {
    subject: title,
    document: {
      language,
      title,
      blocks: [
        { kind: 'text', text: translate('alertIntro', { who: oneLine(who), share: oneLine(shareTitle) }) },
        { kind: 'list', label: translate('actions'), items },
        ...(more > 0 ? [{ kind: 'text', text: translate('andMore', { count: more }) } as const] : []),
        {
          kind: 'facts',
          facts: [
            { label: translate('who'), value: who },
            { label: translate('fromAddress'), value: formats.list(addresses.slice(0, maxAddresses)) },
            { label: translate('link'), value: viewUrl },
          ],
        },
      ],
      footer: { text: translate('alertReason'), linkLabel: translate('unsubscribe') },
    },
  };
}
