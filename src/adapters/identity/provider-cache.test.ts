import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as library from 'openid-client';
import { ProviderCache } from './provider-cache.ts';

/**
 * Returns a function that sends a request through a cache, and one that returns how often the metadata of a tenant's providers was read.
 */
function countingCache() {
  const cache = new ProviderCache(() => 0);
  const reads = new Map<number, number>();
  async function read(tid: number) {
    reads.set(tid, (reads.get(tid) ?? 0) + 1);
    return { metadata: { issuer: 'https://idp.example' }, authenticate: library.None() };
  }
  const request = (tid: number, provider: number) =>
    cache.request(
      library,
      { tid, issuer: `https://idp${provider}.example`, clientId: 'postern' },
      () => read(tid),
      async () => {},
    );
  return { request, readsOf: (tid: number) => reads.get(tid) };
}

test('a tenant with hundreds of providers does not evict the cached metadata of other tenants', async () => {
  const { request, readsOf } = countingCache();
  const tenants = Array.from({ length: 240 }, (_, index) => index + 2);
  for (const tid of tenants) await request(tid, 1);
  for (let provider = 0; provider < 600; provider += 1) await request(1, provider);
  for (const tid of tenants) await request(tid, 1);
  assert.deepEqual(new Set(tenants.map(readsOf)), new Set([1]));
});

test('the metadata of at most 32 providers of one tenant is cached', async () => {
  const { request, readsOf } = countingCache();
  for (let provider = 0; provider < 32; provider += 1) await request(1, provider);
  for (let provider = 0; provider < 32; provider += 1) await request(1, provider);
  assert.equal(readsOf(1), 32);
  await request(1, 32); // evicts the oldest one
  await request(1, 1);
  assert.equal(readsOf(1), 33);
  await request(1, 0);
  assert.equal(readsOf(1), 34);
});
