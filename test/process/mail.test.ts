import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { atEnd } from '../parts/at-end.ts';
import { type MailSink, startMailSink } from '../parts/mail-sink.ts';
import { startPostgres } from '../parts/postgres-server.ts';
import { shareBody } from '../parts/share-body.ts';
import { until } from '../ports/until.ts';
import { temporaryFolder } from '../start.ts';
import { type RunningPostern, runPostern } from './run-postern.ts';

const mailEnvironment = (sink: MailSink) => ({ POSTERN_SMTP_URL: sink.url, POSTERN_MAIL_FROM: 'files@example.com' });

/** Invites `count` people, whose addresses begin with `name`. @returns their addresses */
async function invite(postern: RunningPostern, count: number, name = 'user'): Promise<string[]> {
  const { body: share } = await postern.send('share/add', shareBody);
  const emails = Array.from({ length: count }, (_, index) => `${name}-${index}@example.com`);
  const { status } = await postern.send('share/invite', { id: share.id, emails: emails.join() });
  assert.equal(status, 200);
  return emails;
}

const messageIdOf = (raw: string) => /^Message-ID: (.*)$/m.exec(raw)?.[1] ?? '';

/**
 * Checks that each recipient got a mail, and that all mails to one recipient have the same Message-ID.
 * @returns the number of surplus mails
 */
function assertOneMessageEach({ mails }: Pick<MailSink, 'mails'>, emails: readonly string[]): number {
  const messages = Map.groupBy(mails, ({ to }) => String(to[0]));
  assert.deepEqual(new Set(messages.keys()), new Set(emails));
  for (const [email, copies] of messages) assert.equal(new Set(copies.map(({ raw }) => messageIdOf(raw))).size, 1, email);
  return mails.length - emails.length;
}

test('if Postern is killed again and again while it sends mail, each recipient gets their mail, and only an interrupted mail is sent twice', async (t) => {
  const sink = await startMailSink(t);
  const environment = { POSTERN_DATA: await temporaryFolder(t), ...mailEnvironment(sink) };
  let postern = await runPostern(t, environment);
  const emails = await invite(postern, 120);
  const kills = [5, 40, 80];
  for (const mailCount of kills) {
    await until(() => sink.mails.length >= mailCount);
    postern.child.kill('SIGKILL');
    await postern.ended;
    postern = await runPostern(t, environment);
  }
  await until(() => new Set(sink.mails.map(({ to }) => to[0])).size === emails.length);
  const duplicates = assertOneMessageEach(sink, emails);
  assert.ok(duplicates <= 5 * kills.length, `${duplicates} surplus mails`); // five mails are sent at a time
});

async function startTwo(t: TestContext, sink: MailSink) {
  const database = await startPostgres();
  atEnd(t, () => database[Symbol.asyncDispose]());
  const client = new pg.Client(database.url('postgres'));
  await client.connect();
  await client.query('CREATE DATABASE mails');
  await client.end();
  const environment = {
    POSTERN_DATA: await temporaryFolder(t),
    POSTERN_DATABASE_URL: database.url('mails'),
    POSTERN_SECRET_KEY: 'one-secret-key-for-both',
    ...mailEnvironment(sink),
  };
  return [await runPostern(t, environment), await runPostern(t, environment)] as const;
}

test('two processes on one PostgreSQL send each mail once, and one continues when the other is killed', async (t) => {
  const sink = await startMailSink(t);
  const [first, second] = await startTwo(t, sink);
  const emails = await invite(first, 100);
  await until(() => sink.mails.length === emails.length);
  assert.equal(assertOneMessageEach(sink, emails), 0);
  first.child.kill('SIGKILL');
  await first.ended;
  const otherEmails = await invite(second, 20, 'other');
  const mails = () => sink.mails.filter(({ to }) => to[0]?.startsWith('other'));
  await until(() => mails().length === otherEmails.length);
  second.child.kill('SIGTERM');
  await second.ended;
  assert.equal(assertOneMessageEach({ mails: mails() }, otherEmails), 0);
});
