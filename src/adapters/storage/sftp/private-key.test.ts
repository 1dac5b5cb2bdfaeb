import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { KeyUnusable, PrivateKeys } from './private-key.ts';

/** Encodes a value in DER, with a length of two bytes. */
function der(tag: number, content: Buffer): Buffer {
  const head = Buffer.from([tag, 0x82, 0, 0]);
  head.writeUInt16BE(content.length, 2);
  return Buffer.concat([head, content]);
}

/** Returns a key in the traditional PEM format, with version 0 and odd numbers of these lengths in bits. */
function pemOf(type: 'DSA' | 'RSA', lengths: readonly number[]): string {
  const numbers = lengths.map((bits) => der(2, Buffer.concat([Buffer.from([0]), Buffer.alloc(bits / 8, 0xab)])));
  const base64 = der(0x30, Buffer.concat([der(2, Buffer.from([0])), ...numbers])).toString('base64');
  return `-----BEGIN ${type} PRIVATE KEY-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END ${type} PRIVATE KEY-----\n`;
}

const read = (privateKey: string) => new PrivateKeys().read({ host: 'h', hostKey: '', username: 'u', root: '/', privateKey }, 1);

for (const [kind, pem, problem] of [
  ['DSA', pemOf('DSA', [9600, 9600, 9600, 9600, 160]), /must be an Ed25519, ECDSA or RSA key/],
  ['RSA with too many bits', pemOf('RSA', [8192, 24, 8192, 4096, 4096, 4096, 4096, 4096]), /must not have more than 4096 bits/],
  ['RSA with numbers that are too long', pemOf('RSA', [4096, 24, 4096, 16_000, 16_000, 16_000, 16_000, 160]), /takes too long to sign/],
] as const)
  test(`a private key whose signature takes long is refused: ${kind}`, async () => {
    await assert.rejects(read(pem), (cause) => cause instanceof KeyUnusable && problem.test(cause.message));
  });

test('an RSA key of 4096 bits can be used', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 4096 });
  const key = await read(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
  assert.equal(key.type, 'ssh-rsa');
});
