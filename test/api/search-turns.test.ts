import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import { callerGroups, type SearchClient, searchTurns, visitorGroups } from '#features/turns/search-turns.ts';
import { startPostern } from '../start.ts';

const stays = new AbortController().signal;
const many: SearchClient = { tid: 1, groups: callerGroups('key 1') };
const other: SearchClient = { tid: 2, groups: callerGroups('key 2') };

/** Returns searches that run until `endOne`, and `started`: the clients whose searches have started, in order. */
function heldSearches(ofOneTenant = 4) {
  const turns = searchTurns(ofOneTenant);
  const started: string[] = [];
  const gates: (() => void)[] = [];
  const search = (who: SearchClient, left = stays) =>
    turns.run(who, left, () => {
      started.push(String(who.groups.at(-1)));
      return new Promise<void>((resolve) => gates.push(resolve));
    });
  const endOne = async () => {
    gates.shift()?.();
    await new Promise(setImmediate);
  };
  return { search, started, endOne };
}

test('with many waiting searches of one tenant, a search of another tenant is among the next two to start', async () => {
  const { search, started, endOne } = heldSearches();
  for (let number = 0; number < 40; number += 1) void search(many);
  void search(other);
  const before = started.length;
  await endOne();
  await endOne();
  assert.ok(started.slice(before).includes('key 2'), String(started.slice(before)));
});

test('a search starts at once, even if another tenant has many waiting searches', async () => {
  const { search, started } = heldSearches(3);
  for (let number = 0; number < 40; number += 1) void search(many);
  await new Promise(setImmediate);
  const before = started.length;
  void search(other);
  await new Promise(setImmediate);
  assert.deepEqual(started.slice(before), ['key 2']);
});

test('if one tenant fills the queue with many clients, a search of another tenant still gets a place', async () => {
  const { search, started, endOne } = heldSearches();
  const refused: unknown[] = [];
  for (let number = 0; number < 2100; number += 1)
    search({ tid: 1, groups: callerGroups(`key ${number % 40}`) }).catch((cause: unknown) => refused.push(cause));
  void search(other);
  for (let number = 0; number < 3; number += 1) await endOne();
  assert.ok(started.includes('key 2'));
  assert.ok(refused.length > 0 && refused.every((cause) => cause instanceof Refusal && cause.messageName === 'searchBusy'));
});

test('with many visitors of one network at a portal, searches of a key and of a visitor of another network are among the next ones', async () => {
  const { search, started, endOne } = heldSearches();
  const visitors = (address: string) => ({ tid: 1, groups: visitorGroups(address) });
  for (let number = 0; number < 60; number += 1) void search(visitors(`203.0.113.${number}`));
  void search(visitors('198.51.100.1'));
  void search(many);
  const before = started.length;
  for (let number = 0; number < 4; number += 1) await endOne();
  const next = started.slice(before);
  assert.ok(next.includes('key 1') && next.includes(String(visitorGroups('198.51.100.1').at(-1))), String(next));
});

test('a waiting search does not start if its client has disconnected', async () => {
  const { search, started, endOne } = heldSearches();
  for (let number = 0; number < 4; number += 1) void search(many);
  const left = new AbortController();
  const givenUp = search(other, left.signal);
  left.abort();
  await assert.rejects(givenUp, { name: 'AbortError' });
  await endOne();
  assert.ok(!started.includes('key 2'));
});

test('a client can have 64 waiting searches, and one more is refused as busy', async () => {
  const { search } = heldSearches();
  for (let number = 0; number < 68; number += 1) void search(many);
  await assert.rejects(search(many), (cause: unknown) => cause instanceof Refusal && cause.messageName === 'searchBusy');
  void search(other);
});

for (const kind of ['reports', 'search'] as const)
  test(`a long query on the ${kind} connection does not delay a search`, async (t) => {
    const postern = await startPostern(t);
    const long = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000000) select count(*) from n`;
    const first = long.execute(postern.ports.store[kind]).then(() => 'the long one');
    const search = postern.call('share/search').then(() => 'search');
    assert.equal(await Promise.race([first, search]), 'search');
    await first;
  });
