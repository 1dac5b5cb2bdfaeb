import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMailSink } from '../parts/mail-sink.ts';
import { until } from '../ports/until.ts';
import { Browser, startWithCodes } from './code-visitor.ts';
import { addMails, makeMailsDue, startWithMail } from './mailing.ts';

/** Starts a mail server. Its replies for recipients whose names begin with `slow` wait in `heldReplies`. */
async function startSlowServer(t: TestContext) {
  const heldReplies: (() => void)[] = [];
  const sink = await startMailSink(t, {
    options: {
      onRcptTo({ address }, _session, done) {
        if (address.startsWith('slow')) heldReplies.push(done);
        else done();
      },
    },
  });
  return { sink, heldReplies };
}

test('all codes that were requested while the mail server was unavailable arrive when the server is available again', async (t) => {
  const users = Array.from({ length: 10 }, (_, number) => `user-${number}`);
  const { postern, sink, share } = await startWithCodes(t, { users });
  await sink[Symbol.asyncDispose]();
  // All requests come from one network, so that their codes are claimed together.
  for (const user of users) await new Browser(postern).request(share.base, `${user}@example.com`);
  const rows = () => postern.ports.store.read.selectFrom('delivery').select(['state', 'error']).execute();
  await until(async () => {
    const deliveries = await rows();
    return deliveries.some(({ error }) => error !== '') && deliveries.every(({ state }) => state === 'waiting');
  });
  const restartedSink = await startMailSink(t, { port: sink.port });
  await makeMailsDue(postern);
  for (const user of users) await restartedSink.waitFor(({ to }) => to[0] === `${user}@example.com`);
});

test('recipients of one tenant for whom the mail server is slow do not delay the mails of another tenant', async (t) => {
  const { sink, heldReplies } = await startSlowServer(t);
  const { postern } = await startWithMail(t, {}, sink);
  await addMails(
    postern,
    Array.from({ length: 60 }, (_, number) => ({ tid: 1, recipient: `slow-${number}@slow.example` })),
  );
  await until(() => heldReplies.length >= 5);
  await addMails(postern, [{ tid: 2, recipient: 'ann@example.com' }]);
  await sink.waitFor(({ to }) => to[0] === 'ann@example.com');
  assert.ok(heldReplies.length <= 10, 'the number of slow mails of one tenant is limited');
});

test('mails that take over a second leave one worker free for other mails of their tenant, and one for mails of other tenants', async (t) => {
  const { sink, heldReplies } = await startSlowServer(t);
  const { postern } = await startWithMail(t, {}, sink);
  await addMails(
    postern,
    Array.from({ length: 60 }, (_, number) => ({ tid: 1, recipient: `slow-${number}@slow.example` })),
  );
  await until(() => heldReplies.length === 5);
  await sleep(1500); // ms; less than `slowAfter`, the time after which a mail that is being sent counts as slow
  for (const done of heldReplies.splice(0)) done();
  await until(() => heldReplies.length === 3);
  await addMails(postern, [
    { tid: 1, recipient: 'bob@example.com', turn: 'another' },
    { tid: 2, recipient: 'ann@example.com' },
  ]);
  for (const user of ['ann', 'bob']) await sink.waitFor(({ to }) => to[0] === `${user}@example.com`);
  assert.equal(heldReplies.length, 3);
});

test('test mails to a slow recipient delay no sign-in codes, and are limited for each caller', async (t) => {
  const { sink, heldReplies } = await startSlowServer(t);
  const { postern, share } = await startWithCodes(t, {}, sink);
  const tests = Array.from({ length: 30 }, () => postern.send('mail/test', { to: 'slow@example.com' }));
  await until(() => heldReplies.length === 2);
  await new Browser(postern).request(share.base, 'ann@example.com');
  await sink.waitFor(({ to }) => to[0] === 'ann@example.com');
  const release = setInterval(() => {
    for (const done of heldReplies.splice(0)) done();
  }, 10);
  const statuses = (await Promise.all(tests)).map(({ status }) => status);
  clearInterval(release);
  assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 503).length], [10, 20]);
});

test('codes that many networks request for slow recipients do not delay the other codes of the same link', async (t) => {
  const { sink, heldReplies } = await startSlowServer(t);
  const { postern, share } = await startWithCodes(t, { allow: ['*@slow.example', '*@example.com'] }, sink);
  for (let number = 0; number < 12; number += 1)
    await new Browser(postern, `198.51.${number}.1`).request(share.base, `slow-${number}@slow.example`);
  await until(() => heldReplies.length === 5);
  await new Browser(postern).request(share.base, 'ann@example.com');
  await sink.waitFor(({ to }) => to[0] === 'ann@example.com');
  assert.equal(heldReplies.length, 5);
});
