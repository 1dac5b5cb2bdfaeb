import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRetention } from '#features/audit/audit-retention.ts';
import { deleteExpiredRows } from '#features/jobs/delete-expired-rows.ts';
import { createUsersProfile, type Json, newShare, signIn, startPostern, temporaryFolder } from '../start.ts';
import { settableClock } from '../visit/visiting.ts';

const days = 86_400_000;

test('several starts with a clock that is 500 days ahead delete no audit entry and no share, and lock no visitor out', async (t) => {
  const data = await temporaryFolder(t);
  const clock = settableClock();
  const start = () => startPostern(t, { data, replacements: { ports: { clock } } });
  const first = await start();
  const profile = await createUsersProfile(first, ['ann']);
  const { viewId } = await first.call('share/add', newShare({ authenticationId: profile.id }));
  await signIn(first, `/s/${viewId}`, 'ann');
  const entries = async (postern: typeof first) => (await postern.call('audit/search', { pageSize: 1 })).totalCount;
  const before = await entries(first);
  await first.stop();

  clock.advance(500 * days);
  for (let number = 0; number < 3; number += 1) {
    const ahead = await start();
    const retention = auditRetention(
      ahead.ports,
      () => number * 3_600_000,
      () => {},
    );
    await deleteExpiredRows(ahead.ports);
    await retention.run();
    await ahead.stop();
  }
  const ahead = await start();
  for (let attempt = 0; attempt < 8; attempt += 1)
    await ahead.visit(`/s/${viewId}/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'ann', password: 'wrong horse battery' }),
    });
  await ahead.stop();

  clock.advance(-500 * days);
  const after = await start();
  assert.ok((await entries(after)) >= before, 'no audit entry is gone');
  const cookie = await signIn(after, `/s/${viewId}`, 'ann');
  assert.equal((await after.visit(`/s/${viewId}/list`, { headers: { cookie } })).status, 200);
  const { list } = await after.call('share/search');
  assert.deepEqual(
    list.map(({ active }: Json) => active),
    [true],
  );
});
