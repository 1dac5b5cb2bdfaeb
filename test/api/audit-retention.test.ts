import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { auditRetention } from '#features/audit/audit-retention.ts';
import { recordStatements } from '../parts/statements.ts';
import { startPostern } from '../start.ts';
import { hour, settableClock } from '../visit/visiting.ts';

const day = 24 * hour;

/** Starts Postern with one audit entry for each of the last `days` days, and a clock that the test can advance. */
async function startWithAuditEntries(t: TestContext, days: number) {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } }, environment: { POSTERN_AUDIT_DAYS: '400' } });
  await postern.call('share/search');
  await postern.call('loginprofile/add', { title: 'One' });
  const { store } = postern.ports;
  const today = clock.now();
  await store.write(async (tx) => {
    const { id: _, ...row } = await tx.selectFrom('audit').selectAll().limit(1).executeTakeFirstOrThrow();
    await tx
      .insertInto('audit')
      .values(Array.from({ length: days }, (_day, index) => ({ ...row, at: today - (days - index) * day, request_id: 'old' })))
      .execute();
  }, 'job');
  let runningTime = 0;
  const lines: string[] = [];
  const retention = () =>
    auditRetention(
      postern.ports,
      () => runningTime,
      (line) => lines.push(line),
    );
  const countEntries = async () =>
    Number((await store.read.selectFrom('audit').select('id').where('request_id', '=', 'old').execute()).length);
  const advanceTime = (milliseconds: number) => {
    runningTime += milliseconds;
    clock.advance(milliseconds);
  };
  return { clock, store, retention, countEntries, lines, advanceTime };
}

test('expired audit entries are deleted one day at a time, at most once an hour, and the log says so', async (t) => {
  const { retention, countEntries, lines, advanceTime } = await startWithAuditEntries(t, 410);
  const { run } = retention();
  const before = await countEntries();
  await run();
  assert.equal(await countEntries(), before - 1);
  assert.match(lines[0] ?? '', /deleting audit entries before \d{4}-\d\d-\d\d: POSTERN_AUDIT_DAYS is 400/);
  await run();
  assert.equal(await countEntries(), before - 1, 'no further day within the hour');
  for (let times = 0; times < 20; times += 1) {
    advanceTime(hour);
    await run();
  }
  assert.ok((await countEntries()) >= 399 && (await countEntries()) <= 401, `${await countEntries()} are left`);
});

test('deleting expired audit entries does not scan the complete audit log', async (t) => {
  const statements = recordStatements(t);
  const { retention } = await startWithAuditEntries(t, 410);
  await retention().run();
  const maxStatements = [...statements].filter((statement) => /max\(/.test(statement) && /"audit"/.test(statement));
  assert.ok(maxStatements.length > 0);
  assert.deepEqual(
    maxStatements.filter((statement) => /max\("?id"?\)/.test(statement)),
    [],
    'SQLite would scan the log from its newest entry to find max(id)',
  );
});

test('if the clock is set forward while Postern runs, no audit entries are deleted', async (t) => {
  const { clock, retention, countEntries, lines } = await startWithAuditEntries(t, 300);
  const { run } = retention();
  clock.advance(500 * day);
  for (let times = 0; times < 5; times += 1) await run();
  assert.equal(await countEntries(), 300);
  assert.match(lines.join('\n'), /the clock of this machine was changed/);
});

test('entries written while the clock was far behind are kept for one day after its correction, even after a restart', async (t) => {
  const { clock, store, retention, countEntries, lines, advanceTime } = await startWithAuditEntries(t, 1);
  await store.write(async (tx) => {
    const { id: _, ...row } = await tx.selectFrom('audit').selectAll().limit(1).executeTakeFirstOrThrow();
    const times = [clock.now() - 500 * day, clock.now()];
    await tx
      .insertInto('audit')
      .values(times.map((at) => ({ ...row, at, request_id: 'old' })))
      .execute();
  }, 'job');
  await retention().run();
  advanceTime(23 * hour);
  await retention().run();
  assert.equal(await countEntries(), 3);
  assert.match(lines.join('\n'), /the clock may have been wrong before/);
  advanceTime(hour);
  await retention().run();
  assert.equal(await countEntries(), 2);
});

test('after a start with a clock that is ahead, no entries are deleted for one day, and the log gives the reason', async (t) => {
  const { clock, retention, countEntries, lines, advanceTime } = await startWithAuditEntries(t, 300);
  clock.advance(500 * day);
  const { run } = retention();
  await run();
  advanceTime(23 * hour);
  await run();
  assert.equal(await countEntries(), 300);
  assert.match(lines[0] ?? '', /check the clock/);
  advanceTime(hour);
  await run();
  assert.equal(await countEntries(), 299);
});

test('long audit entries are deleted in small batches', async (t) => {
  const { store, retention, countEntries, clock } = await startWithAuditEntries(t, 1);
  await store.write(async (tx) => {
    const { id: _, ...row } = await tx.selectFrom('audit').selectAll().limit(1).executeTakeFirstOrThrow();
    const long = { ...row, at: clock.now() - 410 * day, request_id: 'old', after: 'x'.repeat(1_000_000) };
    for (let entry = 0; entry < 20; entry += 1) await tx.insertInto('audit').values(long).execute();
  }, 'job');
  const { write } = store;
  const countsAfterWrites: number[] = [];
  store.write = async (...change) => {
    const value = await write(...change);
    countsAfterWrites.push(await countEntries());
    return value;
  };
  await retention().run();
  assert.deepEqual(countsAfterWrites, [17, 13, 9, 5, 1]);
});
