import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutboundResponse } from '#ports/outbound.ts';
import { ProviderUnavailable } from '#ports/provider-errors.ts';
import { openIdFetch } from './openid-fetch.ts';

const tokenOf = (claims: string) => `e30.${Buffer.from(claims).toString('base64url')}.c2ln`;

/** Requests tokens from a provider that responds with an ID token. */
function requestTokens(claims: string): Promise<Response> {
  const content = Buffer.from(JSON.stringify({ access_token: 'a', id_token: tokenOf(claims) }));
  const response = { status: 200, headers: {}, read: async () => content } as Partial<OutboundResponse> as OutboundResponse;
  const fetchProvider = openIdFetch({ request: async () => response }, () => AbortSignal.timeout(60_000));
  return fetchProvider('https://provider.example/token', {
    ...{ method: 'POST', headers: {}, body: new URLSearchParams(), redirect: 'manual' as const },
  });
}

test('an ID token with a thousand groups is accepted', async () => {
  const groups = Array.from({ length: 1000 }, (_, index) => `group ${index} with a long name`);
  assert.equal((await requestTokens(JSON.stringify({ sub: 'ann', groups }))).status, 200);
});

for (const [what, claims] of [
  ['nested claims', `{"groups":${'['.repeat(1000)}${']'.repeat(1000)}}`],
  ['thousands of claims', JSON.stringify(Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [index, 0])))],
  ['long claims', JSON.stringify({ groups: 'g'.repeat(1 << 17) })],
] as const)
  test(`an ID token with ${what} is refused before it is parsed, because parsing it would delay all requests`, async () => {
    await assert.rejects(requestTokens(claims), ProviderUnavailable);
  });
