import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TargetUnreachable } from '#ports/outbound.ts';
import { ResponseInvalid } from '#ports/provider-errors.ts';
import { ProviderDescriptions } from './provider-descriptions.ts';

const provider = { metadataUrl: 'https://idp.example/metadata' };
const [second, hour] = [1000, 3_600_000];

/** A fake provider: its metadata is the entity ID alone. */
function fakeProvider() {
  let time = 0;
  const state = { entityId: 'urn:ours', isAway: false, requests: 0, beforeResponse: Promise.resolve() };
  const request = async () => {
    state.requests += 1;
    await state.beforeResponse;
    if (state.isAway) throw new TargetUnreachable('idp.example cannot be reached');
    const body = (async function* () {})();
    return { status: 200, headers: {}, body, read: async () => Buffer.from(state.entityId), discard() {} };
  };
  const readMetadata = async ({ xml, entityId }: { xml: string; entityId: string | null }) => {
    if (entityId !== null && entityId !== xml) throw new ResponseInvalid('another provider');
    return { entityId: xml, entryPoint: 'https://idp.example/sso', certificates: [] };
  };
  const clocks = { now: () => time, monotonic: () => time };
  const descriptions = new ProviderDescriptions({ request }, { readMetadata }, clocks);
  const wait = (duration: number) => {
    time += duration;
  };
  return { state, descriptions, wait };
}

test('another provider at the same metadata address is refused at every read', async () => {
  const { state, descriptions, wait } = fakeProvider();
  await descriptions.get(provider, 1);
  state.entityId = 'urn:theirs';
  wait(25 * hour);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await assert.rejects(descriptions.get(provider, 1), /another provider/);
    wait(10 * second);
  }
});

test('while the provider does not respond, the known metadata is used for another day', async () => {
  const { state, descriptions, wait } = fakeProvider();
  await descriptions.get(provider, 1);
  state.isAway = true;
  for (const duration of [25 * hour, 22 * hour]) {
    wait(duration);
    assert.equal((await descriptions.get(provider, 1)).entityId, 'urn:ours');
  }
  wait(2 * hour);
  await assert.rejects(descriptions.get(provider, 1), /cannot be reached/);
  state.isAway = false;
  wait(10 * second);
  assert.equal((await descriptions.get(provider, 1)).entityId, 'urn:ours');
});

test('metadata is read again once a day, and at most once a minute when SAML responses of the provider are refused', async () => {
  const { state, descriptions, wait } = fakeProvider();
  await descriptions.get(provider, 1);
  wait(23 * hour);
  await descriptions.get(provider, 1);
  assert.equal(state.requests, 1);
  for (let response = 0; response < 10; response += 1) await descriptions.getNewer(provider, 1);
  assert.equal(state.requests, 2);
  wait(25 * hour);
  await descriptions.get(provider, 1);
  assert.equal(state.requests, 3);
});

test('at most four providers of a tenant, and 16 in total, are read at once: further reads are refused, and succeed later', async () => {
  const { state, descriptions } = fakeProvider();
  const gate = Promise.withResolvers<void>();
  state.beforeResponse = gate.promise;
  const read = (tid: number, profile: number) => descriptions.get({ metadataUrl: `https://idp.example/${profile}` }, tid);
  const refusal = { name: 'Error', message: /too many SAML providers/ };
  const all: Promise<unknown>[] = [];
  for (let tid = 1; tid <= 4; tid += 1) {
    for (let profile = 0; profile < 4; profile += 1) all.push(read(tid, profile));
    for (let profile = 4; profile < 300; profile += 1) await assert.rejects(read(tid, profile), refusal);
  }
  await assert.rejects(read(5, 0), refusal);
  all.push(read(1, 0)); // shares the request in progress
  assert.equal(state.requests, 16);
  gate.resolve();
  await Promise.all(all);
  await read(5, 0);
  await read(1, 299);
  assert.equal(state.requests, 18);
});

test('metadata that is being read is not requested again, even if that of hundreds of others is read meanwhile', async () => {
  const { state, descriptions } = fakeProvider();
  const gate = Promise.withResolvers<void>();
  state.beforeResponse = gate.promise;
  const slow = descriptions.get(provider, 1);
  state.beforeResponse = Promise.resolve();
  for (let profile = 0; profile < 300; profile += 1) await descriptions.get({ metadataUrl: `https://idp.example/${profile}` }, 1);
  const again = descriptions.get(provider, 1);
  gate.resolve();
  await Promise.all([slow, again]);
  assert.equal(state.requests, 301);
});

test('while four other providers of the tenant are read, the most at once, the known metadata of a provider is used', async () => {
  const { state, descriptions, wait } = fakeProvider();
  await descriptions.get(provider, 1);
  wait(25 * hour);
  const gate = Promise.withResolvers<void>();
  state.beforeResponse = gate.promise;
  const others = [0, 1, 2, 3].map((profile) => descriptions.get({ metadataUrl: `https://idp.example/${profile}` }, 1));
  assert.equal((await descriptions.get(provider, 1)).entityId, 'urn:ours');
  gate.resolve();
  await Promise.all(others);
});
