import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { test } from 'node:test';
import { clientKeyProblem, clientKeyTextProblem } from './client-key.ts';

const rsa = (modulusLength: number) => ({ asymmetricKeyType: 'rsa', asymmetricKeyDetails: { modulusLength } });
const ec = (namedCurve: string) => ({ asymmetricKeyType: 'ec', asymmetricKeyDetails: { namedCurve } });

test('a client can sign with RSA keys of 2048 to 4096 bits and with keys of P-256, and with no others', () => {
  assert.deepEqual([rsa(2048), rsa(4096), ec('prime256v1')].map(clientKeyProblem), [null, null, null]);
  for (const key of [rsa(2047), rsa(4097), ec('secp521r1'), { asymmetricKeyType: 'ed25519' }])
    assert.match(clientKeyProblem(key) ?? '', /^must be /);
});

const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();

test('the text of a private key is accepted only if it is one PEM (PKCS #8) of a key for RSA or P-256', () => {
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  for (const key of [p256, ...[2048, 4096].map((modulusLength) => generateKeyPairSync('rsa', { modulusLength }).privateKey)])
    assert.equal(clientKeyTextProblem(`Bag Attributes: <No Attributes>\n${pemOf(key)}`), null);
  const others = [
    generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).privateKey,
    generateKeyPairSync('x25519').privateKey,
    generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
    generateKeyPairSync('ed25519').privateKey,
  ];
  for (const key of others) assert.match(clientKeyTextProblem(pemOf(key)) ?? '', /^must be an RSA key/);
  const sec1 = p256.export({ type: 'sec1', format: 'pem' }).toString();
  for (const text of ['', 'secret', sec1, sec1 + pemOf(p256)]) assert.match(clientKeyTextProblem(text) ?? '', /PKCS #8/);
});
