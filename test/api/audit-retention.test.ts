import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { auditRetention } from '#features/audit/audit-retention.ts';
import { recordStatements } from '../parts/statements.ts';
import { startPostern } from '../start.ts';
import { hour, settableClock } from '../visit/visiting.ts';

const day = 24 * hour;

/** Starts Postern with one audit entry per day for the given number of days, and returns its retention with a settable clock. */
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
  let running = 0;
  const lines: string[] = [];
  const retention = () =>
    auditRetention(
      postern.ports,
      () => running,
      (line) => lines.push(line),
    );
  const left = async () => Number((await store.read.selectFrom('audit').select('id').where('request_id', '=', 'old').execute()).length);
  const goOn = (milliseconds: number) => {
    running += milliseconds;
    clock.advance(milliseconds);
  };
  return { clock, store, retention, left, lines, goOn };
}

test('expired audit entries are deleted one day at a time, at most once an hour, and the log says so', async (t) => {
  const { retention, left, lines, goOn } = await startWithAuditEntries(t, 410);
  const { run } = retention();
  const before = await left();
  await run();
  assert.equal(await left(), before - 1);
  assert.match(lines[0] ?? '', /deleting audit entries before \d{4}-\d\d-\d\d: POSTERN_AUDIT_DAYS is 400/);
  await run();
  assert.equal(await left(), before - 1, 'no further day within the hour');
  for (let times = 0; times < 20; times += 1) {
    goOn(hour);
    await run();
  }
  assert.ok((await left()) >= 399 && (await left()) <= 401, `${await left()} are left`);
});

test('deleting expired audit entries does not scan the complete audit log', async (t) => {
  const statements = recordStatements(t);
  const { retention } = await startWithAuditEntries(t, 410);
  await retention().run();
  const highest = [...statements].filter((statement) => /max\(/.test(statement) && /"audit"/.test(statement));
  assert.ok(highest.length > 0);
  assert.deepEqual(
    highest.filter((statement) => /max\("?id"?\)/.test(statement)),
    [],
    'for max(id) SQLite scans from the newest entry',
  );
});

test('if the clock is set forward while Postern runs, no audit entries are deleted', async (t) => {
  const { clock, retention, left, lines } = await startWithAuditEntries(t, 300);
  const { run } = retention();
  clock.advance(500 * day);
  for (let times = 0; times < 5; times += 1) await run();
  assert.equal(await left(), 300);
  assert.match(lines.join('\n'), /the clock of this machine was changed/);
});

test('entries written while the clock was far behind are kept for one day after its correction, even after a restart', async (t) => {
  const { clock, store, retention, left, lines, goOn } = await startWithAuditEntries(t, 1);
  await store.write(async (tx) => {
    const { id: _, ...row } = await tx.selectFrom('audit').selectAll().limit(1).executeTakeFirstOrThrow();
    const times = [clock.now() - 500 * day, clock.now()];
    await tx
      .insertInto('audit')
      .values(times.map((at) => ({ ...row, at, request_id: 'old' })))
      .execute();
  }, 'job');
  await retention().run();
  goOn(23 * hour);
  await retention().run();
  assert.equal(await left(), 3);
  assert.match(lines.join('\n'), /the clock may have been wrong before/);
  goOn(hour);
  await retention().run();
  assert.equal(await left(), 2);
});

test('after a start with a clock that is ahead, no entries are deleted for one day, and the log gives the reason', async (t) => {
  const { clock, retention, left, lines, goOn } = await startWithAuditEntries(t, 300);
  clock.advance(500 * day);
  const { run } = retention();
  await run();
  goOn(23 * hour);
  await run();
  assert.equal(await left(), 300);
  assert.match(lines[0] ?? '', /check the clock/);
  goOn(hour);
  await run();
  assert.equal(await left(), 299);
});

test('long audit entries are deleted in small batches', async (t) => {
  const { store, retention, left, clock } = await startWithAuditEntries(t, 1);
  await store.write(async (tx) => {
    const { id: _, ...row } = await tx.selectFrom('audit').selectAll().limit(1).executeTakeFirstOrThrow();
    const long = { ...row, at: clock.now() - 410 * day, request_id: 'old', after: 'x'.repeat(1_000_000) };
    for (let entry = 0; entry < 20; entry += 1) await tx.insertInto('audit').values(long).execute();
  }, 'job');
  const { write } = store;
  const leftAfter: number[] = [];
  store.write = async (...change) => {
    const value = await write(...change);
    leftAfter.push(await left());
    return value;
  };
  await retention().run();
  assert.deepEqual(leftAfter, [17, 13, 9, 5, 1]);
});
