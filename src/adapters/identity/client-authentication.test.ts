import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import * as library from 'openid-client';
import { fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { ProviderRefused, ProviderUnavailable } from '#ports/provider-errors.ts';
import { ClientAuthentication } from './client-authentication.ts';

const pemOf = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const clientSecret = pemOf(2048);
const server = { issuer: 'https://login.example.com' };

/**
 * Returns a function that takes a tenant ID. It resolves to a function that signs a client assertion at each call.
 * @param now returns a monotonic time in ms
 */
function signer(now: () => number) {
  const authentication = new ClientAuthentication(fairScheduler(1), now);
  return async (tid: number) => {
    const client = { issuer: server.issuer, clientId: 'postern', clientAuth: 'private_key_jwt', clientSecret, tid } as const;
    const authenticate = await authentication.methodOf(library, client);
    return async () => {
      const body = new URLSearchParams();
      await authenticate(server, { client_id: 'postern' }, body, new Headers());
      return body.get('client_assertion');
    };
  };
}

test('a tenant that needs many signatures delays the signature of another tenant by at most two signatures', async () => {
  const signerOf = signer(() => 0);
  const [signForMany, signForOne] = [await signerOf(1), await signerOf(2)];
  const order: number[] = [];
  const many = Array.from({ length: 20 }, () => signForMany().then(() => order.push(1)));
  await Promise.all([...many, signForOne().then(() => order.push(2))]);
  assert.ok(order.indexOf(2) <= 2, `order of the tenants: ${order.join(' ')}`);
});

test('a sign-in that has waited too long for its signature is refused as temporarily unavailable', async () => {
  let time = 0;
  const sign = await signer(() => time)(1);
  const signature = sign();
  time = 5000;
  await assert.rejects(signature, ProviderUnavailable);
});

test('a private key that is too short is not used', async () => {
  const authentication = new ClientAuthentication(fairScheduler(1), () => 0);
  const client = { ...{ issuer: server.issuer, clientId: 'postern' }, clientAuth: 'private_key_jwt', tid: 1 } as const;
  await assert.rejects(authentication.methodOf(library, { ...client, clientSecret: pemOf(1024) }), ProviderRefused);
});
