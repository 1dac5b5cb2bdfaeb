import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { claimJobs, completeJob, countJobs, enqueueJob, extendClaim, failJob } from '#features/jobs/job-queue.ts';
import { type JobKind, ScheduledJobs } from '#features/jobs/job-runner.ts';
import { type Store, StoreUnavailable } from '#ports/store.ts';
import { atEnd } from '../parts/at-end.ts';
import type { CreateDatabase } from './store.contract.ts';
import { until } from './until.ts';

const lease = 60_000; // ms: longer than any test
const times = { lease, overdue: 0, longestPause: 60_000 };
const millisecondsPerDay = 86_400_000;

/** Tests the job queue. Every database engine must pass. */
export function jobContract(engine: string, createDatabase: CreateDatabase): void {
  /** Opens one database for processes with the given names. */
  async function openProcesses(t: TestContext, ...names: string[]) {
    const store = await (await createDatabase(t))();
    atEnd(t, () => store[Symbol.asyncDispose]());
    return names.map((process) => ({ store, process }));
  }
  const add = (ports: { store: Store; process: string }, key: string, payload = '') =>
    ports.store.write((tx) => enqueueJob(ports, tx, { kind: 'mail', key, payload }), 'job');
  const endLeases = ({ store }: { store: Store }) =>
    store.write(
      (tx) =>
        tx
          .updateTable('job')
          .set({ lease_until: sql<number>`${store.dialect.now} - 1` })
          .execute(),
      'job',
    );
  const makeDue = ({ store }: { store: Store }) =>
    store.write((tx) => tx.updateTable('job').set({ due_at: store.dialect.now }).execute(), 'job');

  test(`two processes never claim the same job (${engine})`, async (t) => {
    const [one, other] = await openProcesses(t, 'one', 'other');
    assert.ok(one && other);
    for (let index = 0; index < 20; index += 1) await add(one, `${index}`);
    const claims = await Promise.all([one, other, one, other].map((ports) => claimJobs(ports, 'mail', 20, times)));
    const keys = claims.flat().map(({ key }) => key);
    assert.equal(keys.length, 20);
    assert.equal(new Set(keys).size, 20);
  });

  test(`a job can be claimed even if it was stored or claimed while the database's clock was a year ahead (${engine})`, async (t) => {
    const [ports, other] = await openProcesses(t, 'one', 'other');
    assert.ok(ports && other);
    const ahead = sql<number>`${ports.store.dialect.now} + ${365 * millisecondsPerDay}`;
    await add(ports, 'due');
    await ports.store.write((tx) => tx.updateTable('job').set({ due_at: ahead }).execute(), 'job');
    await add(ports, 'claimed');
    await ports.store.write((tx) => tx.updateTable('job').set({ lease_until: ahead }).where('key', '=', 'claimed').execute(), 'job');
    const claims = await claimJobs(other, 'mail', 20, times);
    assert.deepEqual(claims.map(({ key }) => key).sort(), ['claimed', 'due']);
  });

  test(`after the lease of a job has ended, another process claims the job, and the first process cannot change it (${engine})`, async (t) => {
    const [dead, living] = await openProcesses(t, 'dead', 'living');
    assert.ok(dead && living);
    await add(dead, 'a', 'text');
    const [claim] = await claimJobs(dead, 'mail', 1, times);
    assert.ok(claim);
    assert.deepEqual(await claimJobs(living, 'mail', 1, times), []);
    await endLeases(living);
    const [secondClaim] = await claimJobs(living, 'mail', 1, times);
    assert.equal(secondClaim?.payload, 'text');
    assert.equal(await extendClaim(dead, claim, lease), false);
    await completeJob(dead, claim, null);
    await failJob(dead, claim, 'too late', 0);
    assert.deepEqual(await countJobs(living), [{ kind: 'mail', waiting: 0, running: 1, failed: 0, oldest: 0 }]);
  });

  test(`a job that is enqueued again while it is running runs once more (${engine})`, async (t) => {
    const [ports] = await openProcesses(t, 'one');
    assert.ok(ports);
    await add(ports, 'a', 'first');
    const [claim] = await claimJobs(ports, 'mail', 1, times);
    assert.ok(claim);
    await add(ports, 'a', 'second');
    await completeJob(ports, claim, null);
    const [next] = await claimJobs(ports, 'mail', 1, times);
    assert.equal(next?.payload, 'second');
    await completeJob(ports, next, null);
    assert.deepEqual(await countJobs(ports), []);
  });

  test(`a job that is enqueued again during its last attempt runs once more, even if that attempt fails (${engine})`, async (t) => {
    const [ports] = await openProcesses(t, 'one');
    assert.ok(ports);
    await add(ports, 'a', 'first');
    const [claim] = await claimJobs(ports, 'mail', 1, times);
    assert.ok(claim);
    await add(ports, 'a', 'second');
    await failJob(ports, claim, 'the server is unavailable', null);
    const [next] = await claimJobs(ports, 'mail', 1, times);
    assert.deepEqual([next?.payload, next?.attempts], ['second', 1]);
    assert.ok(next);
    await failJob(ports, next, 'the server is unavailable', null);
    assert.equal((await countJobs(ports))[0]?.failed, 1);
  });

  test(`a job that is enqueued in a failed transaction does not exist (${engine})`, async (t) => {
    const [ports] = await openProcesses(t, 'one');
    assert.ok(ports);
    const failedWrite = ports.store.write(async (tx) => {
      await enqueueJob(ports, tx, { kind: 'mail', key: 'a' });
      throw new Error('refused');
    }, 'job');
    await assert.rejects(failedWrite);
    assert.deepEqual(await countJobs(ports), []);
  });

  test(`a failed job is retried after a pause, and is counted as failed after its last attempt (${engine})`, async (t) => {
    const [ports] = await openProcesses(t, 'one');
    assert.ok(ports);
    let runs = 0;
    const logLines: string[] = [];
    const kind: JobKind = {
      name: 'mail',
      every: null,
      concurrency: 1,
      lease,
      pauses: [3_600_000, 7_200_000],
      maxAttempts: 3,
      async run() {
        runs += 1;
        throw new Error('the server is unavailable');
      },
    };
    await using runner = new ScheduledJobs(ports, [kind], (line) => logLines.push(line));
    await add(ports, 'a');
    for (const run of [1, 2, 3]) {
      await makeDue(ports);
      runner.wake();
      await until(() => logLines.length === run);
      assert.equal(runs, run);
    }
    assert.match(logLines[0] ?? '', /Job mail has failed: the server is unavailable. It runs again in 3600 s/);
    assert.match(logLines[1] ?? '', /It runs again in 7200 s/);
    assert.match(logLines[2] ?? '', /It is given up/);
    assert.deepEqual(
      (await countJobs(ports)).map(({ oldest: _, ...counts }) => counts),
      [{ kind: 'mail', waiting: 0, running: 0, failed: 1 }],
    );
    await makeDue(ports);
    assert.deepEqual(await claimJobs(ports, 'mail', 1, times), []);
  });

  test(`all processes together run a recurring job once per interval, measured by the clock of the database (${engine})`, async (t) => {
    const [one, other] = await openProcesses(t, 'one', 'other');
    assert.ok(one && other);
    let runs = 0;
    const kind: JobKind = {
      name: 'upkeep',
      every: 3_600_000,
      concurrency: 1,
      lease,
      pauses: [1000],
      maxAttempts: null,
      run: async () => {
        runs += 1;
      },
    };
    await using first = await new ScheduledJobs(one, [kind], assert.fail).start();
    await using second = await new ScheduledJobs(other, [kind], assert.fail).start();
    assert.equal(runs, 0, 'a new job waits for its interval');
    await makeDue(one);
    for (const runner of [first, second]) runner.wake();
    const isDone = async () => (await countJobs(one)).some(({ running, waiting }) => running === 0 && waiting === 1);
    while (runs === 0 || !(await isDone())) await new Promise(setImmediate);
    for (const runner of [first, second]) runner.wake();
    assert.deepEqual(await claimJobs(other, 'upkeep', 1, { ...times, longestPause: 3_600_000 }), []);
    assert.equal(runs, 1);
    await makeDue(one);
    second.wake();
    await until(() => runs === 2);
  });

  test(`a job that fails because the database is unavailable does not count as failed (${engine})`, async (t) => {
    const [ports] = await openProcesses(t, 'one');
    assert.ok(ports);
    let runs = 0;
    const kind: JobKind = {
      name: 'mail',
      every: null,
      concurrency: 1,
      lease,
      pauses: [3_600_000],
      maxAttempts: 1,
      async run() {
        runs += 1;
        if (runs === 1) throw new StoreUnavailable('the database is unavailable');
      },
    };
    await using _runner = new ScheduledJobs(ports, [kind], assert.fail);
    await add(ports, 'a');
    await until(() => runs === 2);
    while ((await countJobs(ports)).length > 0) await new Promise(setImmediate);
  });

  test(`when a process stops, a job that still runs five seconds later is aborted, and another process may claim it at once (${engine})`, async (t) => {
    const [one, other] = await openProcesses(t, 'one', 'other');
    assert.ok(one && other);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const started = Promise.withResolvers<AbortSignal>();
    const kind: JobKind = {
      name: 'mail',
      every: null,
      concurrency: 1,
      lease,
      pauses: [1000],
      maxAttempts: null,
      run: (_job, signal) => {
        started.resolve(signal);
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    };
    const runner = new ScheduledJobs(one, [kind], assert.fail);
    await add(one, 'a');
    runner.wake();
    const signal = await started.promise;
    const disposal = runner[Symbol.asyncDispose]();
    await new Promise(setImmediate);
    t.mock.timers.tick(5000);
    await disposal;
    assert.ok(signal.aborted);
    assert.equal((await claimJobs(other, 'mail', 1, times)).length, 1);
  });
}
