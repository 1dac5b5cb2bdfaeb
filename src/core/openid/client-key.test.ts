import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientKeyProblem } from './client-key.ts';

const rsa = (modulusLength: number) => ({ asymmetricKeyType: 'rsa', asymmetricKeyDetails: { modulusLength } });
const ec = (namedCurve: string) => ({ asymmetricKeyType: 'ec', asymmetricKeyDetails: { namedCurve } });

test('a client can sign with RSA keys of 2048 to 4096 bits and with keys of P-256, and with no others', () => {
  assert.deepEqual([rsa(2048), rsa(4096), ec('prime256v1')].map(clientKeyProblem), [null, null, null]);
  for (const key of [rsa(2047), rsa(4097), ec('secp521r1'), { asymmetricKeyType: 'ed25519' }])
    assert.match(clientKeyProblem(key) ?? '', /^must be /);
});
