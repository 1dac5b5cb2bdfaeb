import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorAt } from '../api/field-errors.ts';
import { createUsersProfile, newShare, type TestPostern } from '../start.ts';
import { startWithMail } from './mailing.ts';

/** Adds a share that lists all users of a new login profile. @param emails the address of each user; empty: the user has none */
async function addShareWithUsers(postern: TestPostern, emails: readonly string[]): Promise<number> {
  const { id: authId } = await createUsersProfile(postern, []);
  const users = emails.map((email, index) => ({ username: `u${index}`, email, active: true }));
  for (let start = 0; start < users.length; start += 1000)
    await postern.call('accessuser/addMany', { authId, users: users.slice(start, start + 1000) });
  const userNames = users.map(({ username }) => username).join();
  return (await postern.call('share/add', newShare({ authenticationId: authId, allowAllUsers: false, userNames }))).id;
}

test('an invitation that names no addresses goes to those users listed by the share who have an e-mail address', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const id = await addShareWithUsers(postern, ['', 'ann@example.com', '', 'bob@example.com']);
  await postern.call('share/invite', { id });
  const recipients = (await postern.call('mail/deliveries', { shareId: id })).list.map(({ recipient }: { recipient: string }) => recipient);
  assert.deepEqual(recipients.sort(), ['ann@example.com', 'bob@example.com']);
  await sink.waitFor(({ to }) => to.includes('bob@example.com'));
});

test('an invitation to the listed users is sent if at most 1000 of them have an address, and is refused if more have one', async (t) => {
  const { postern } = await startWithMail(t);
  const emails = Array.from({ length: 1001 }, (_, index) => `u${index}@example.com`);
  const tooMany = await addShareWithUsers(postern, ['', ...emails]);
  const answer = await postern.send('share/invite', { id: tooMany });
  assert.equal(answer.status, 400);
  assert.match(fieldErrorAt(answer, 'emails'), /at most 1000 addresses/);
  const shareWithMaximum = await addShareWithUsers(postern, [...emails.slice(0, 1000).map((email) => `x${email}`), '', '']);
  const { recipientCount } = await postern.call('share/invite', { id: shareWithMaximum });
  assert.equal(recipientCount, 1000);
});
