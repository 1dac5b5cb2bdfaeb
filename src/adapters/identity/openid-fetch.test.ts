import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fairScheduler } from '#adapters/os/fair-scheduler.ts';
import type { OutboundResponse } from '#ports/outbound.ts';
import { ProviderUnavailable } from '#ports/provider-errors.ts';
import { openIdFetch } from './openid-fetch.ts';

const tokenOf = (claims: string) => `e30.${Buffer.from(claims).toString('base64url')}.c2ln`;

/** Sends a request to a provider that responds with a text. */
function request(text: string, method: 'GET' | 'POST'): Promise<Response> {
  const response = { status: 200, headers: {}, read: async () => Buffer.from(text) } as Partial<OutboundResponse> as OutboundResponse;
  const fetchProvider = openIdFetch({ request: async () => response }, 1, () => AbortSignal.timeout(60_000), fairScheduler(1));
  const body = method === 'POST' ? new URLSearchParams() : undefined;
  return fetchProvider('https://provider.example/token', { method, headers: {}, body, redirect: 'manual' });
}

/** Requests tokens from a provider that responds with an ID token. */
const requestTokens = (claims: string) => request(JSON.stringify({ access_token: 'a', id_token: tokenOf(claims) }), 'POST');

test('an ID token with a thousand groups is accepted', async () => {
  const groups = Array.from({ length: 1000 }, (_, index) => `group ${index} with a long name`);
  assert.equal((await requestTokens(JSON.stringify({ sub: 'ann', groups }))).status, 200);
});

for (const [what, claims] of [
  ['a thousand levels of nested claims', `{"groups":${'['.repeat(1000)}${']'.repeat(1000)}}`],
  ['thousands of claims', JSON.stringify(Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [index, 0])))],
  ['long claims', JSON.stringify({ groups: 'g'.repeat(1 << 17) })],
] as const)
  test(`an ID token with ${what} is refused before it is parsed, because parsing it would delay all requests`, async () => {
    await assert.rejects(requestTokens(claims), ProviderUnavailable);
  });

const long = tokenOf(JSON.stringify({ groups: 'g'.repeat(1 << 17) }));
for (const [what, text] of [
  ['writes the name of the token with an escape', `{"id\\u005ftoken":"${long}"}`],
  ['has two tokens, the second of which counts', `{"id_token":"${tokenOf('{}')}","id_token":"${long}"}`],
] as const)
  test(`the limits of an ID token also apply if the response ${what}`, async () => {
    await assert.rejects(request(text, 'POST'), ProviderUnavailable);
  });

test('keys whose signatures are expensive to verify are ignored', async () => {
  const numberOf = (bits: number) => Buffer.alloc(bits / 8, 255).toString('base64url');
  const key = (kid: string, bits: number, exponentBits: number) => ({ kty: 'RSA', kid, n: numberOf(bits), e: numberOf(exponentBits) });
  const keys = [key('usual', 4096, 24), key('long', 4104, 24), key('costly', 3072, 3072), { kty: 'EC', kid: 'curve', x: 'x', y: 'y' }];
  const response = await request(JSON.stringify({ keys }), 'GET');
  const kids: string[] = JSON.parse(await response.text(), (name, value) =>
    name === 'keys' ? value.map(({ kid }: { kid: string }) => kid) : value,
  ).keys;
  assert.deepEqual(kids, ['usual', 'curve']);
});
