import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import { callerGroups, searchTurns, type TurnClient, visitorGroups } from '#features/turns/search-turns.ts';
import { startPostern } from '../start.ts';

const neverAborted = new AbortController().signal;
const busyClient: TurnClient = { tid: 1, groups: callerGroups('key 1') };
const otherClient: TurnClient = { tid: 2, groups: callerGroups('key 2') };

/** Each search runs until `endOne` ends it, the oldest first. `startedClients` has the client of each search, in the order of starts. */
function controlledSearches(maxPerTenant = 4) {
  const turns = searchTurns(maxPerTenant);
  const startedClients: string[] = [];
  const gates: (() => void)[] = [];
  const search = (client: TurnClient, signal = neverAborted) =>
    turns.run(client, signal, () => {
      startedClients.push(String(client.groups.at(-1)));
      return new Promise<void>((resolve) => gates.push(resolve));
    });
  const endOne = async () => {
    gates.shift()?.();
    await new Promise(setImmediate);
  };
  return { search, startedClients, endOne };
}

test('with many waiting searches of one tenant, a search of another tenant is among the next two to start', async () => {
  const { search, startedClients, endOne } = controlledSearches();
  for (let number = 0; number < 40; number += 1) void search(busyClient);
  void search(otherClient);
  const before = startedClients.length;
  await endOne();
  await endOne();
  assert.ok(startedClients.slice(before).includes('key 2'), String(startedClients.slice(before)));
});

test('if one tenant runs at most three searches at a time, a search of another tenant starts at once', async () => {
  const { search, startedClients } = controlledSearches(3);
  for (let number = 0; number < 40; number += 1) void search(busyClient);
  await new Promise(setImmediate);
  const before = startedClients.length;
  void search(otherClient);
  await new Promise(setImmediate);
  assert.deepEqual(startedClients.slice(before), ['key 2']);
});

test('if one tenant fills the queue with many clients, a search of another tenant still gets a place', async () => {
  const { search, startedClients, endOne } = controlledSearches();
  const refusals: unknown[] = [];
  for (let number = 0; number < 2100; number += 1)
    search({ tid: 1, groups: callerGroups(`key ${number % 40}`) }).catch((cause: unknown) => refusals.push(cause));
  void search(otherClient);
  for (let number = 0; number < 3; number += 1) await endOne();
  assert.ok(startedClients.includes('key 2'));
  assert.ok(refusals.length > 0 && refusals.every((cause) => cause instanceof Refusal && cause.messageName === 'searchBusy'));
});

test('many visitors of one wide network at a portal do not delay the searches of a key or of a visitor of another network', async () => {
  const { search, startedClients, endOne } = controlledSearches();
  const visitors = (address: string) => ({ tid: 1, groups: visitorGroups(address) });
  for (let number = 0; number < 60; number += 1) void search(visitors(`203.0.113.${number}`));
  void search(visitors('198.51.100.1'));
  void search(busyClient);
  const before = startedClients.length;
  for (let number = 0; number < 4; number += 1) await endOne();
  const next = startedClients.slice(before);
  assert.ok(next.includes('key 1') && next.includes(String(visitorGroups('198.51.100.1').at(-1))), String(next));
});

test('a waiting search does not start if its client has disconnected', async () => {
  const { search, startedClients, endOne } = controlledSearches();
  for (let number = 0; number < 4; number += 1) void search(busyClient);
  const disconnect = new AbortController();
  const abandonedSearch = search(otherClient, disconnect.signal);
  disconnect.abort();
  await assert.rejects(abandonedSearch, { name: 'AbortError' });
  await endOne();
  assert.ok(!startedClients.includes('key 2'));
});

test('a client can have 64 waiting searches, and one more is refused as busy', async () => {
  const { search } = controlledSearches();
  for (let number = 0; number < 68; number += 1) void search(busyClient);
  await assert.rejects(search(busyClient), (cause: unknown) => cause instanceof Refusal && cause.messageName === 'searchBusy');
  void search(otherClient);
});

for (const kind of ['reports', 'search'] as const)
  test(`a long query of store.${kind} does not delay a search`, async (t) => {
    const postern = await startPostern(t);
    const longQuery = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000000) select count(*) from n`;
    const longQueryResult = longQuery.execute(postern.ports.store[kind]).then(() => 'the long one');
    const search = postern.call('share/search').then(() => 'search');
    assert.equal(await Promise.race([longQueryResult, search]), 'search');
    await longQueryResult;
  });
