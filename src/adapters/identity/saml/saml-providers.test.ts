import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderRefused, ResponseRefused } from '#ports/provider-errors.ts';
import { ThreadedSamlProviders } from './saml-providers.ts';

const self = { entityId: 'https://files.example.com', acsUrl: 'https://files.example.com/sign-in' };

test('if the metadata of the provider is not valid, this does not count as an invalid response of the visitor', async () => {
  await using providers = new ThreadedSamlProviders(
    { request: () => Promise.reject(new Error('no request')) },
    { now: () => 0, monotonic: () => 0 },
  );
  const reading = { tid: 1, network: '192.0.2.0/24', inTurn: <T>(work: () => Promise<T>) => work() };
  await assert.rejects(
    providers.read({ metadata: '<x/>' }, reading, self, 'eA=='),
    (cause) => cause instanceof ProviderRefused && !(cause instanceof ResponseRefused),
  );
});
