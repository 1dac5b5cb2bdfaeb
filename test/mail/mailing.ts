import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type MailSink, type ReceivedMail, startMailSink } from '../parts/mail-sink.ts';
import { until } from '../ports/until.ts';
import { type StartOptions, startPostern, type TestPostern } from '../start.ts';

/** Starts Postern with a mail server. */
export async function startWithMail(t: TestContext, { environment, ...over }: StartOptions = {}, sink?: MailSink) {
  const server = sink ?? (await startMailSink(t));
  const postern = await startPostern(t, {
    environment: { POSTERN_SMTP_URL: server.url, POSTERN_MAIL_FROM: 'files@example.com', ...environment },
    ...over,
  });
  return { postern, sink: server };
}

/** Waits until exactly `count` digests exist. */
export async function waitForDigests({ ports: { store } }: TestPostern, count: number): Promise<void> {
  await until(async () => (await store.read.selectFrom('alert_digest').selectAll().execute()).length === count);
}

/** Adds waiting mails. @param dueAt ms since the epoch; default: long ago, so that all are due */
export async function addMails(
  { ports: { store } }: TestPostern,
  mails: readonly { readonly tid: number; readonly recipient: string; readonly turn?: string }[],
  dueAt?: number,
): Promise<void> {
  await store.write(async (tx) => {
    const content = { tid: 1, kind: 'test' as const, share_id: null, language: 'en', data: '{}', pending: '', created_at: Date.now() };
    const { id: content_id } = await tx.insertInto('mail_content').values(content).returning('id').executeTakeFirstOrThrow();
    const rows = mails.map(({ tid, recipient, turn = '' }) => ({
      ...{ tid, lane: 'alerts' as const, kind: 'test' as const, content_id, share_id: null, recipient, recipient_key: recipient, turn },
      ...{ message_id: `${recipient}.${tid}`, state: 'waiting' as const, attempts: 0, created_at: Date.now(), due_at: dueAt ?? tid },
      ...{ ended_at: null, error: '' },
    }));
    for (let at = 0; at < rows.length; at += 500)
      await tx
        .insertInto('delivery')
        .values(rows.slice(at, at + 500))
        .execute();
  }, 'job');
}

/** Makes all digests due now. */
export async function makeDigestsDue({ ports: { store } }: TestPostern): Promise<void> {
  await store.write((tx) => tx.updateTable('alert_digest').set({ due_at: 0 }).execute(), 'job');
}

/** Makes all waiting mails due now. */
export async function makeMailsDue({ ports: { store } }: TestPostern): Promise<void> {
  await store.write((tx) => tx.updateTable('delivery').set({ due_at: 0 }).where('state', '=', 'waiting').execute(), 'job');
}

const decodeWord = (_: string, charset: string, encoding: string, text: string) => {
  assert.equal(charset.toLowerCase(), 'utf-8');
  if (encoding.toUpperCase() === 'B') return Buffer.from(text, 'base64').toString('utf8');
  return decodeQuoted(text.replaceAll('_', ' '));
};

const decodeQuoted = (text: string) =>
  Buffer.from(
    text.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  ).toString('utf8');

/** Returns a header of a mail, unfolded and decoded (RFC 2047), or an empty string. */
export function headerOf(mail: ReceivedMail | undefined, name: string): string {
  const head = (mail?.raw ?? '').split('\r\n\r\n', 1)[0] ?? '';
  const value = new RegExp(`^${name}: ?(.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(head)?.[1] ?? '';
  return value
    .replace(/\r\n[ \t]/g, ' ')
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?([^?]+)\?([bq])\?([^?]*)\?=/gi, decodeWord)
    .trim();
}

function partOf({ raw }: ReceivedMail, type: string): string {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? '';
  const part = raw.split(`--${boundary}`).find((one) => one.includes(`Content-Type: ${type}`)) ?? '';
  const [head = '', ...body] = part.split('\r\n\r\n');
  const text = body.join('\r\n\r\n');
  const decodedText = /base64/i.test(head)
    ? Buffer.from(text, 'base64').toString('utf8')
    : /quoted-printable/i.test(head)
      ? decodeQuoted(text)
      : text;
  return decodedText.replaceAll('\r\n', '\n');
}

/** Returns the plain text of a mail. */
export const textOf = (mail: ReceivedMail): string => partOf(mail, 'text/plain');

/** Returns the HTML of a mail. */
export const htmlOf = (mail: ReceivedMail): string => partOf(mail, 'text/html');
