import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '#core/messages.ts';
import { ArchivePlans } from '#features/visits/archives/archive-plans.ts';
import { ListingTurns } from '#features/visits/files/listing-turns.ts';
import { uploadSlots } from '#features/visits/transfers/upload-slots.ts';

/** Returns an address in one of the /64 networks of one IPv6 /48. */
const addressIn = (network: number) => `2001:db8:7:${network.toString(16)}::1`;
const failOnAbort = () => assert.fail('an upload was aborted');
const victim = '192.0.2.1';
const neverAborted = new AbortController().signal;
const never = new Promise<never>(() => {});
const isRefusal = (messageName: string) => (cause: unknown) => cause instanceof Refusal && cause.messageName === messageName;

test('an IPv6 /48 with many /64 networks does not block the uploads of others', () => {
  const slots = uploadSlots();
  for (let upload = 0; upload < 128; upload += 1) slots.take(addressIn(upload % 4), 'link', failOnAbort);
  assert.throws(() => slots.take(addressIn(4), 'link', failOnAbort), isRefusal('uploadsBusy'));
  slots.take(victim, 'link', failOnAbort)();
});

test('if uploads of a few wide networks take all slots of a link, other wide networks can still upload to it', () => {
  const slots = uploadSlots();
  const abortedNetworks: string[] = [];
  const networks = ['198.51.100', '203.0.113', '192.0.3', '192.0.4'];
  for (let upload = 0; upload < 256; upload += 1) {
    const network = networks[upload % networks.length] ?? '';
    slots.take(`${network}.${upload % 8}`, 'link', () => abortedNetworks.push(network));
  }
  const releases = Array.from({ length: 10 }, (_, visitor) =>
    slots.take(`192.0.${10 + visitor}.1`, 'link', () => abortedNetworks.push('victim')),
  );
  assert.equal(abortedNetworks.length, 10);
  assert.ok(!abortedNetworks.includes('victim'));
  for (const release of releases) release();
});

test('at a link without free slots, a wide network cannot start another upload if no wide network has more uploads', () => {
  const slots = uploadSlots();
  for (let upload = 0; upload < 256; upload += 1) slots.take(`192.0.${upload % 64}.1`, 'link', failOnAbort);
  assert.throws(() => slots.take('192.0.0.2', 'link', failOnAbort), isRefusal('uploadsBusy'));
});

test('listings of others are not refused because of an IPv6 /48 with many /64 networks', async () => {
  const turns = new ListingTurns();
  const requestPage = (from: string, viewId: string, path: string) => {
    const query = { sort: 'name', order: 'asc', searchWord: null, startIndex: 0, pageSize: 1 } as const;
    return turns.page({ viewId, address: from, locationId: 1, path, query, clientGone: neverAborted, responseEnd: never }, () => never);
  };
  const refusals: unknown[] = [];
  for (let number = 0; number < 600; number += 1)
    void requestPage(addressIn(number % 20), 'link', `${number}`).catch((cause) => refusals.push(cause));
  await new Promise(setImmediate);
  assert.ok(refusals.length > 400 && refusals.every(isRefusal('listingBusy')));
  const answer = requestPage(victim, 'other', 'path').catch((cause: unknown) => cause);
  assert.equal(await Promise.race([answer, new Promise((resolve) => setImmediate(resolve, 'waits'))]), 'waits');
});

test('an IPv6 /48 with many /64 networks does not block the archives of others', async () => {
  const archives = new ArchivePlans();
  const gates: (() => void)[] = [];
  async function* waitForGate(): AsyncGenerator<void, null> {
    await new Promise<void>((resolve) => gates.push(resolve));
    return null;
  }
  const plan = (from: string, viewId: string) => archives.plan({ viewId, address: from, tid: 1, locationId: 1 }, neverAborted, waitForGate);
  const refusals: unknown[] = [];
  for (let number = 0; number < 600; number += 1)
    void plan(addressIn(number % 40), `link ${number % 3}`).catch((cause: unknown) => refusals.push(cause));
  let isAnswered = false;
  const answer = plan(victim, 'other').then(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    gates.shift()?.();
    await new Promise(setImmediate);
  }
  await answer;
  assert.ok(refusals.length > 0 && refusals.every(isRefusal('listingBusy')));
});
