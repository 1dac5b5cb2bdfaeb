import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { giveUpOldDeliveries } from '#features/mail/delivery-queue.ts';
import { type MailSink, startMailSink } from '../parts/mail-sink.ts';
import { until } from '../ports/until.ts';
import { type Json, startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import { Browser, startWithCodes } from './code-visitor.ts';
import { addMails, headerOf, makeMailsDue, startWithMail } from './mailing.ts';

const deliveries = async (postern: TestPostern, query: object = {}): Promise<Json[]> =>
  (await postern.call('mail/deliveries', { sortField: 'id', ...query })).list;
const untilState = (postern: TestPostern, state: string) => until(async () => (await deliveries(postern, { state })).length > 0);

async function invite(postern: TestPostern, emails: string): Promise<void> {
  const { id } = await createShare(postern, {});
  await postern.call('share/invite', { id, emails });
}

test('a mail that the server refuses for one recipient is given up only for this recipient', async (t) => {
  const sink = await startMailSink(t, { refuse: (address) => (address.startsWith('nobody') ? '550 no such mailbox' : null) });
  const { postern } = await startWithMail(t, {}, sink);
  await invite(postern, 'nobody@example.com, ann@example.com');
  assert.deepEqual((await sink.waitFor()).to, ['ann@example.com']);
  await untilState(postern, 'failed');
  await untilState(postern, 'sent');
  const [failed] = await deliveries(postern, { state: 'failed' });
  assert.deepEqual([failed.recipient, failed.attempts], ['nobody@example.com', 1]);
  assert.match(failed.error, /refuses this mail: 550 no such mailbox/);
});

test('a mail that the server cannot take now is sent later, with the same Message-ID and Date', async (t) => {
  let tries = 0;
  const headers: string[] = [];
  const sink = await startMailSink(t, {
    beforeAccept: async (mail) => {
      tries += 1;
      headers.push(headerOf(mail, 'message-id') + headerOf(mail, 'date'));
      if (tries === 1) throw Object.assign(new Error('try again later'), { responseCode: 451 });
    },
  });
  const { postern } = await startWithMail(t, {}, sink);
  await invite(postern, 'ann@example.com');
  await until(async () => (await deliveries(postern))[0]?.attempts === 1 && (await deliveries(postern))[0]?.state === 'waiting');
  const [waiting] = await deliveries(postern);
  assert.match(waiting.error, /for now: 451 try again later/);
  const pause = Date.parse(waiting.dueDateTime) - Date.now();
  assert.ok(pause > 40_000 && pause < 75_000, `${pause}`);
  await makeMailsDue(postern);
  await sink.waitFor();
  assert.equal(headers[0], headers[1]);
});

test('mails wait while the server is down, and arrive when it is back', async (t) => {
  const first = await startMailSink(t);
  const { postern } = await startWithMail(t, {}, first);
  await first[Symbol.asyncDispose]();
  await invite(postern, 'ann@example.com, bob@example.com');
  await until(async () => (await deliveries(postern)).some(({ attempts, state }) => attempts === 1 && state === 'waiting'));
  const [waiting] = (await deliveries(postern)).filter(({ attempts }) => attempts === 1);
  assert.match(waiting.error, /connection to the mail server failed/);
  const restartedSink = await startMailSink(t, { port: first.port });
  await makeMailsDue(postern);
  for (const name of ['ann@example.com', 'bob@example.com']) await restartedSink.waitFor(({ to }) => to[0] === name);
});

test('a mail that could not be sent for three days is given up, and can be sent again by an operator', async (t) => {
  const first = await startMailSink(t);
  const { postern } = await startWithMail(t, {}, first);
  await first[Symbol.asyncDispose]();
  await invite(postern, 'ann@example.com');
  await until(async () => (await deliveries(postern))[0]?.attempts === 1);
  const { store } = postern.ports;
  const old = Date.now() - 73 * 3_600_000;
  await until(async () => (await deliveries(postern))[0]?.state === 'waiting');
  await store.write((tx) => tx.updateTable('delivery').set({ created_at: old, due_at: 0 }).execute(), 'job');
  await untilState(postern, 'failed');
  assert.equal((await postern.call('overview/get')).mailsFailed, 1);
  const restartedSink = await startMailSink(t, { port: first.port });
  const [{ id }] = await deliveries(postern);
  await postern.call('mail/retry', { id });
  assert.deepEqual((await restartedSink.waitFor()).to, ['ann@example.com']);
});

test('a mail that an operator sends again is sent at once, even if the clock of Postern is ahead of that of the database', async (t) => {
  const clock = { now: () => Date.now() + 3_600_000 };
  const { postern, sink } = await startWithMail(t, { replacements: { ports: { clock } } });
  await addMails(postern, [{ tid: 1, recipient: 'ann@example.com' }], Date.now() + 3_600_000);
  await postern.call('mail/retry', { state: 'waiting' });
  assert.deepEqual((await sink.waitFor()).to, ['ann@example.com']);
});

test('a waiting mail can be dropped, and is then not sent', async (t) => {
  const first = await startMailSink(t);
  const { postern } = await startWithMail(t, {}, first);
  await first[Symbol.asyncDispose]();
  await invite(postern, 'ann@example.com');
  await until(async () => (await deliveries(postern))[0]?.attempts === 1 && (await deliveries(postern))[0]?.state === 'waiting');
  await postern.call('mail/drop', { state: 'waiting' });
  const restartedSink = await startMailSink(t, { port: first.port });
  await invite(postern, 'bob@example.com');
  await makeMailsDue(postern);
  assert.deepEqual((await restartedSink.waitFor()).to, ['bob@example.com']);
  const states = async () => (await deliveries(postern)).map(({ state }) => state);
  await until(async () => (await states()).includes('sent'));
  assert.deepEqual([await states(), restartedSink.mails.length], [['dropped', 'sent'], 1]);
});

test('tenants take turns: a mail of one tenant does not wait for hundreds of another', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const many = Array.from({ length: 300 }, (_, index) => ({ tid: 1, recipient: `many-${index}@example.com` }));
  await addMails(postern, [...many, { tid: 2, recipient: 'one@example.com' }]);
  await sink.waitFor(({ to }) => to[0] === 'one@example.com');
  assert.ok(sink.mails.length < 100, `${sink.mails.length} mails were sent before it`);
});

test('mails of a process that ended while it was sending are sent by the next process', async (t) => {
  const data = await temporaryFolder(t);
  const hangingSink = await startMailSink(t, { beforeAccept: () => new Promise(() => {}) });
  const { postern } = await startWithMail(t, { data }, hangingSink);
  await invite(postern, 'ann@example.com');
  await untilState(postern, 'sending');
  await postern.stop();
  const sink = await startMailSink(t);
  await startWithMail(t, { data }, sink);
  assert.deepEqual((await sink.waitFor()).to, ['ann@example.com']);
});

test('a process does not send a mail that it has claimed if another process has claimed it since', async (t) => {
  const releases = new Map<string, () => void>();
  const heldRecipients = ['ann@example.com', 'dan@example.com'];
  const sink = await startMailSink(t, {
    beforeAccept: async ({ to: [to = ''] }) => {
      if (heldRecipients.includes(to)) await new Promise<void>((resolve) => releases.set(to, resolve));
    },
  });
  const { postern } = await startWithMail(t, {}, sink);
  await addMails(postern, [
    ...['ann', 'bob'].map((name) => ({ tid: 1, recipient: `${name}@example.com`, turn: 'one' })),
    { tid: 1, recipient: 'dan@example.com', turn: 'two' }, // is still being sent when the test ends
  ]);
  await until(() => releases.size === 2);
  const { store } = postern.ports;
  await store.write(
    (tx) =>
      tx
        .updateTable('delivery')
        .set((row) => ({ attempts: row('attempts', '+', 1) }))
        .where('recipient', '=', 'bob@example.com')
        .execute(),
    'job',
  );
  releases.get('ann@example.com')?.();
  await untilState(postern, 'sent');
  await addMails(postern, [{ tid: 1, recipient: 'eve@example.com', turn: 'three' }]);
  await sink.waitFor(({ to }) => to[0] === 'eve@example.com');
  const [bob] = await deliveries(postern, { searchWord: 'bob' });
  assert.deepEqual([bob.state, bob.attempts], ['sending', 2]);
  assert.deepEqual(sink.mails.map(({ to }) => to[0]).sort(), ['ann@example.com', 'eve@example.com']);
});

test('each recipient of a long list gets a mail', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const emails = Array.from({ length: 450 }, (_, index) => `user-${index}@example.com`);
  await invite(postern, emails.join());
  await until(() => sink.mails.length === 450);
  assert.deepEqual(new Set(sink.mails.map(({ to }) => to[0])), new Set(emails));
});

test('a mail whose connection is cut after its last byte is sent again, with the same Message-ID', async (t) => {
  const receivedMails: string[] = [];
  const sink: MailSink = await startMailSink(t, {
    async beforeAccept(mail) {
      receivedMails.push(mail.raw);
      if (receivedMails.length > 1) return;
      sink.closeConnections();
      await new Promise(() => {}); // the server never answers
    },
  });
  const { postern } = await startWithMail(t, {}, sink);
  await invite(postern, 'ann@example.com');
  await until(async () => (await deliveries(postern))[0]?.error !== '');
  await makeMailsDue(postern);
  await sink.waitFor();
  const ids = receivedMails.map((raw) => /^Message-ID: (.*)$/m.exec(raw)?.[1]);
  assert.equal(ids.length, 2);
  assert.equal(ids[0], ids[1]);
});

test('a mail that is refused temporarily is tried again after 1, 5 and 30 minutes, and 2, 6 and 24 hours, until the server refuses it permanently', async (t) => {
  let answer = '451 try again later';
  const sink = await startMailSink(t, { refuse: () => answer });
  const { postern } = await startWithMail(t, {}, sink);
  await invite(postern, 'ann@example.com');
  for (const [index, minutes] of [1, 5, 30, 120, 360, 1440].entries()) {
    await until(async () => {
      const [delivery] = await deliveries(postern);
      return delivery?.state === 'waiting' && delivery.attempts === index + 1;
    });
    const { due_at, now } = await postern.ports.store.read
      .selectFrom('delivery')
      .select(['due_at', sql<number>`${postern.ports.store.dialect.now}`.as('now')])
      .executeTakeFirstOrThrow();
    const pause = (due_at - Number(now)) / 60_000;
    assert.ok(pause > minutes * 0.75 && pause <= minutes * 1.2, `${pause} minutes instead of ${minutes}`);
    await makeMailsDue(postern);
  }
  answer = '550 no such mailbox';
  await makeMailsDue(postern);
  await untilState(postern, 'failed');
  assert.deepEqual(sink.mails, []);
});

test('a sign-in code does not wait for ten thousand invitations', async (t) => {
  const { postern, sink, share, codeFor } = await startWithCodes(t);
  for (let part = 0; part < 10; part += 1)
    await postern.call('share/invite', {
      id: share.id,
      emails: Array.from({ length: 1000 }, (_, index) => `user-${part}-${index}@example.com`).join(),
    });
  await new Browser(postern).request(share.base, 'ann@example.com');
  await codeFor('ann@example.com');
  assert.ok(sink.mails.length < 9000, `${sink.mails.length} mails were sent before it`);
  const counts = await postern.call('mail/deliveries', { kind: 'invitation', pageSize: 1 });
  assert.ok(counts.totalCount > 0);
});

test('mails that are too old are given up in batches, so that other writes can run in between', async (t) => {
  const { ports, ...postern } = await startPostern(t); // without mail
  const { read, write } = ports.store;
  await addMails(
    { ...postern, ports },
    Array.from({ length: 2500 }, (_, number) => ({ tid: (number % 2) + 1, recipient: `old-${number}@example.com` })),
  );
  await write((tx) => tx.updateTable('delivery').set({ created_at: 0 }).execute(), 'job');
  await addMails({ ...postern, ports }, [{ tid: 1, recipient: 'new@example.com' }]);
  const waitingCounts: number[] = [];
  const countingWrite: typeof write = async (change, ...rest) => {
    const value = await write(change, ...rest);
    waitingCounts.push((await read.selectFrom('delivery').select('id').where('state', '=', 'waiting').execute()).length);
    return value;
  };
  await giveUpOldDeliveries({ store: { ...ports.store, write: countingWrite } }, 'alerts');
  assert.deepEqual(waitingCounts, [1501, 501, 1]);
});
