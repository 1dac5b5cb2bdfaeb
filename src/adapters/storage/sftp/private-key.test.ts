import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import ssh2 from 'ssh2';
import { KeyUnusable, PrivateKeys } from './private-key.ts';

/** Encodes a value in DER. The length of the content is written in two bytes. */
function der(tag: number, content: Buffer): Buffer {
  const head = Buffer.from([tag, 0x82, 0, 0]);
  head.writeUInt16BE(content.length, 2);
  return Buffer.concat([head, content]);
}

/** Returns a key in the traditional PEM format, with version 0 and with odd integers that have these lengths in bits. */
function pemOf(type: 'DSA' | 'RSA', lengths: readonly number[]): string {
  const numbers = lengths.map((bits) => der(2, Buffer.concat([Buffer.from([0]), Buffer.alloc(bits / 8, 0xab)])));
  const base64 = der(0x30, Buffer.concat([der(2, Buffer.from([0])), ...numbers])).toString('base64');
  return `-----BEGIN ${type} PRIVATE KEY-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END ${type} PRIVATE KEY-----\n`;
}

const configuration = { host: 'h', hostKey: '', username: 'u', root: '/' };
const read = (privateKey: string) => new PrivateKeys().read({ ...configuration, privateKey }, 1);

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

/** Creates an encrypted key. The library cannot read about one in a hundred of the keys that it creates. */
function encrypted(rounds: number): string {
  for (;;) {
    const { private: text } = ssh2.utils.generateKeyPairSync('ed25519', { passphrase: 'secret', cipher: 'aes256-ctr', rounds });
    if (!(ssh2.utils.parseKey(text, 'secret') instanceof Error)) return text;
  }
}

test('an Ed25519 key with a passphrase can be used', async () => {
  const key = await new PrivateKeys().read({ ...configuration, privateKey: encrypted(16), passphrase: 'secret' }, 1);
  const data = Buffer.from('data');
  assert.equal(key.type, 'ssh-ed25519');
  assert.equal(key.verify(data, key.sign(data)), true);
});

test('a key whose passphrase must be hashed in too many rounds is refused before the passphrase is hashed', async () => {
  const text = encrypted(200);
  const withoutEnd = text.replace(/-----BEGIN[^-]*-----\n([^-]*)/, (pem, base64: string) => {
    const bytes = Buffer.from(base64, 'base64');
    const rounds = bytes.indexOf('bcrypt') + 6 + 4 + 4 + 16;
    assert.equal(bytes.readUInt32BE(rounds), 200);
    bytes.writeUInt32BE(2 ** 31, rounds);
    return pem.replace(base64, `${bytes.toString('base64')}\n`);
  });
  for (const privateKey of [text, withoutEnd])
    await assert.rejects(new PrivateKeys().read({ ...configuration, privateKey, passphrase: 'secret' }, 1), /at most 128 rounds/);
});

test('a tenant whose many keys wait does not delay the key of another tenant', async () => {
  const keys = new PrivateKeys();
  const problems: string[] = [];
  const privateKey = encrypted(1);
  const waiting = Array.from({ length: 40 }, (_, index) =>
    keys.read({ ...configuration, privateKey, passphrase: `wrong ${index}` }, 1).catch(({ message }: Error) => problems.push(message)),
  );
  await keys.read({ ...configuration, privateKey, passphrase: 'secret' }, 2);
  const isRefused = (problem: string) => problem.includes('too many keys');
  assert.equal(problems.filter(isRefused).length, 8);
  assert.ok(problems.length < 24, 'most keys of the first tenant still wait');
  await Promise.all(waiting);
  assert.deepEqual(
    new Set(problems.filter((problem) => !isRefused(problem))),
    new Set(['cannot be decrypted with passphrase, or is not a private key in PEM or OpenSSH format']),
  );
});
