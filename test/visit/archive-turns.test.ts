import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '#core/messages.ts';
import { ArchivePlans } from '#features/visits/archives/archive-plans.ts';
import { archiveTurns } from '#features/visits/archives/archive-turns.ts';

const neverAborted = new AbortController().signal;
const neverEnds = () => new Promise<never>(() => {});
const visitorAt = (locationId: number, tid = 1) => ({ viewId: `link to ${locationId}`, address: '192.0.2.1', tid, locationId });

test('a hanging disk does not delay archives at another location', async () => {
  const turns = archiveTurns({ inner: 16, all: 512 });
  for (let number = 0; number < 10; number += 1) void turns.run(visitorAt(1), neverAborted, neverEnds);
  assert.equal(await turns.run(visitorAt(2), neverAborted, async () => 'read'), 'read');
});

test('the archives of one network do not delay those of another network at the same location', async () => {
  const turns = archiveTurns({ inner: 16, all: 512 });
  for (let number = 0; number < 10; number += 1) void turns.run(visitorAt(1), neverAborted, neverEnds);
  assert.equal(await turns.run({ ...visitorAt(1), address: '198.51.100.1' }, neverAborted, async () => 'read'), 'read');
});

test('the hanging locations of one tenant do not delay the archives of another tenant', async () => {
  const turns = archiveTurns({ inner: 1000, all: 1000 });
  for (let location = 1; location <= 100; location += 1) void turns.run(visitorAt(location), neverAborted, neverEnds);
  await new Promise(setImmediate);
  assert.equal(await turns.run(visitorAt(200, 2), neverAborted, async () => 'read'), 'read');
});

test('the limit on waiting archives of one network applies to all locations together', async () => {
  const turns = archiveTurns({ inner: 16, all: 512 });
  const refusals: unknown[] = [];
  for (let number = 0; number < 30; number += 1)
    for (const location of [1, 2, 3])
      void turns.run(visitorAt(location), neverAborted, neverEnds).catch((cause: unknown) => refusals.push(cause));
  await new Promise(setImmediate);
  assert.equal(refusals.length, 90 - 3 - 16); // one archive is read at each of the three locations, and 16 wait
  assert.ok(refusals.every((cause) => cause instanceof Refusal && cause.messageName === 'listingBusy'));
});

test('an archive that waits for its turn uses no memory for planning, so that running plans can use all of it', async () => {
  const archives = new ArchivePlans();
  const limits: number[] = [];
  async function* planWithoutEnd(maxEntries: () => number) {
    limits.push(maxEntries());
    await neverEnds();
    yield;
    return null;
  }
  for (const location of [1, 1, 1, 1, 2]) void archives.plan(visitorAt(location), neverAborted, planWithoutEnd);
  await new Promise(setImmediate);
  assert.deepEqual(limits, [400_000, 200_000]); // one archive of the network is planned at each location
});

test('a client that stops waiting for an archive frees its place in the queue', async () => {
  const turns = archiveTurns({ inner: 1, all: 512 });
  const gates: (() => void)[] = [];
  const from = (network: number) => ({ ...visitorAt(1), address: `192.0.${network}.1` });
  const running = [1, 2, 3, 4].map((network) =>
    turns.run(from(network), neverAborted, () => new Promise<void>((resolve) => gates.push(resolve))),
  );
  await new Promise(setImmediate);
  const disconnect = new AbortController();
  const abandonedArchive = turns.run(visitorAt(1), disconnect.signal, neverEnds);
  disconnect.abort(new Error('left'));
  await assert.rejects(abandonedArchive, { message: 'left' });
  const next = turns.run(visitorAt(1), neverAborted, async () => 'read');
  for (const openGate of gates) openGate();
  assert.equal(await next, 'read');
  await Promise.all(running);
});
