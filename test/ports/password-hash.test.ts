import assert from 'node:assert/strict';
import { test } from 'node:test';
import { argon2PasswordHash } from '#adapters/os/argon2.ts';
import { Refusal } from '#core/messages.ts';

const cheap = { memoryCost: 8, timeCost: 1, parallelism: 1 };

test('a tenant that sets many passwords does not block other tenants or visitors', async () => {
  const hashes = argon2PasswordHash(cheap);
  const manyHashes = Promise.allSettled(Array.from({ length: 120 }, () => hashes.hash('a password', { tid: 2 })));
  const others = [hashes.hash('a password', { tid: 1 }), hashes.hash('a password', { address: '192.0.2.1' })];
  for (const hash of await Promise.all(others)) assert.match(hash, /^\$argon2id\$/);
  const rejections = (await manyHashes).filter(({ status }) => status === 'rejected');
  assert.ok(rejections.length > 0, 'some requests of that tenant are refused');
  for (const { reason } of rejections.filter((result) => result.status === 'rejected'))
    assert.ok(reason instanceof Refusal && reason.messageName === 'signInBusy');
});

test('a key that sets many passwords makes another key of its tenant wait for at most two of these passwords', async () => {
  const hashes = argon2PasswordHash(cheap);
  let setCount = 0;
  const manyHashes = Array.from({ length: 20 }, async () => {
    await hashes.hash('a password', { tid: 2, kind: 'key', id: 1 });
    setCount += 1;
  });
  await hashes.hash('a password', { tid: 2, kind: 'key', id: 2 });
  assert.ok(setCount <= 2, `${setCount} passwords were hashed first`);
  await Promise.all(manyHashes);
});

test('a tenant that sets many passwords does not delay sign-in attempts', async () => {
  const hashes = argon2PasswordHash(cheap);
  let setCount = 0;
  const manyHashes = Array.from({ length: 10 }, async () => {
    await hashes.hash('a password', { tid: 2 });
    setCount += 1;
  });
  assert.equal(await hashes.runInTurn('192.0.2.1', async () => setCount), 0);
  await Promise.all(manyHashes);
});
