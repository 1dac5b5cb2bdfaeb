import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isInstalled } from '../parts/is-installed.ts';
import { pkcs12Password as password, startTimeStampAuthority, TestAuthority } from '../parts/signing-certificates.ts';
import { createToken, missingForToken } from '../parts/soft-hsm.ts';
import { startPostern } from '../start.ts';
import { hour, settableClock } from '../visit/visiting.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { addTenant } from './keys.ts';

const options = { skip: !isInstalled('openssl') };
const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.0/8' };
const mask = '********';
const noCertificate = {
  ...{ subject: null, issuer: null, serialNumber: null, validFrom: null, validTo: null },
  ...{ certificate: null, password: null, tokenKeyId: null, timestampUrl: null },
};

/** Starts Postern and a certificate authority. */
async function start(t: Parameters<typeof startPostern>[0], settings: Readonly<Record<string, string>> = {}) {
  const clock = settableClock();
  const [postern, authority] = [
    await startPostern(t, { environment: { ...environment, ...settings }, replacements: { ports: { clock } } }),
    await TestAuthority.create(t),
  ];
  clock.advance(hour); // so that certificates that are issued from now on are already valid by the clock of Postern
  const get = () => postern.call('signature/get', {});
  return { clock, postern, authority, get };
}

test('the stored certificate is described, and its secrets are never returned', options, async (t) => {
  const { postern, authority, get } = await start(t);
  assert.deepEqual(picked(await get()), noCertificate);
  const certificate = authority.pkcs12('signer');
  const stored = await postern.call('signature/update', { certificate, password, timestampUrl: 'https://tsa.example.com/' });
  assert.equal(stored.message, 'Certificate stored');
  const record = await get();
  assert.deepEqual(
    [record.subject, record.issuer, record.certificate, record.password, record.timestampUrl],
    ['CN=signer, O=Acme', 'CN=Test CA', mask, mask, 'https://tsa.example.com/'],
  );
  assert.match(record.serialNumber, /^[0-9A-F]+$/);
  assert.ok(Date.parse(record.validFrom) <= Date.now() && Date.parse(record.validTo) > Date.now() + 360 * 24 * hour);
  const { list } = await postern.call('audit/search', { action: 'signature/update' });
  assert.equal(JSON.parse(list[0].after).certificate, mask);
  assert.ok(!JSON.stringify(list).includes(password));
  const row = JSON.stringify(await postern.ports.store.read.selectFrom('signature').selectAll().executeTakeFirstOrThrow());
  for (const secret of [password, certificate, certificate.slice(200, 300)]) assert.ok(!row.includes(secret), 'the certificate is sealed');

  await postern.call('signature/delete', {});
  assert.deepEqual(picked(await get()), noCertificate);
  assert.equal((await postern.send('signature/delete', {})).status, 404);
});

const picked = (record: Record<string, unknown>) => Object.fromEntries(Object.keys(noCertificate).map((name) => [name, record[name]]));

test('a returned record can be sent back unchanged, and with masked secrets only the time-stamp address changes', options, async (t) => {
  const { postern, authority, get } = await start(t);
  assert.deepEqual(fieldErrorsOf(await postern.send('signature/update', { certificate: mask, password: mask })), ['certificate']);
  await postern.call('signature/update', { certificate: authority.pkcs12('signer'), password, timestampUrl: 'http://one.example.com/' });
  const before = picked(await get());
  await postern.call('signature/update', before);
  assert.deepEqual(picked(await get()), before);
  await postern.call('signature/update', { certificate: mask, password: mask });
  assert.deepEqual(picked(await get()), before);
  await postern.call('signature/update', { certificate: mask, password: mask, timestampUrl: null });
  assert.deepEqual(picked(await get()), { ...before, timestampUrl: null });
});

test('a certificate, password or time-stamp address that cannot be used is refused, with the field and the reason', options, async (t) => {
  const { clock, postern, authority } = await start(t);
  const certificate = authority.pkcs12('signer');
  const refused = async (body: object) => {
    const { status, body: answer } = await postern.send('signature/update', body);
    return [status, ...answer.errors.map(({ field, detail }: { field: string; detail: string }) => `${field} ${detail}`)];
  };
  assert.deepEqual(await refused({ certificate, password: 'wrong' }), [400, 'password is not the password of the file']);
  assert.deepEqual(await refused({ certificate: mask, password }), [400, 'certificate must be sent again together with its password']);
  for (const text of ['%', 'AAAA', Buffer.from('no certificate').toString('base64')])
    assert.match(`${await refused({ certificate: text, password })}`, /400,certificate must be a PKCS #12 file/);
  for (const key of ['rsa1024', 'ed25519'] as const)
    assert.match(`${await refused({ certificate: authority.pkcs12(key, { key }), password })}`, /400,certificate must have an RSA key/);
  for (const timestampUrl of ['tsa.example.com', 'ftp://tsa.example.com', 'https://user:secret@tsa.example.com'])
    assert.match(`${await refused({ certificate, password, timestampUrl })}`, /400,timestampUrl must be/);
  clock.advance(366 * 24 * hour);
  assert.deepEqual(await refused({ certificate, password }), [400, 'certificate must not have expired']);
});

test('PKCS #12 files with old and new encryption are read', options, async (t) => {
  const { postern, authority } = await start(t);
  const old = ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1'];
  for (const [key, encryption] of [
    ['rsa', old],
    ['ec', old],
    ['rsa', []],
    ['ec', ['-iter', '20000']],
  ] as const) {
    const certificate = authority.pkcs12(`${key}${encryption.length}`, { key, encryption });
    await postern.call('signature/update', { certificate, password, timestampUrl: null });
    assert.equal((await postern.call('signature/test', {})).works, true, `${key} ${encryption}`);
  }
});

test('the test of a certificate names the step that fails', options, async (t) => {
  const { clock, postern, authority } = await start(t);
  const steps = async () =>
    (await postern.call('signature/test', {})).steps.map(({ step, passed, detail }: { step: string; passed: boolean; detail: string }) => [
      step,
      passed,
      detail,
    ]);
  assert.deepEqual(await steps(), [['certificate', false, 'No certificate for digital signatures is stored.']]);
  const { url, state } = await startTimeStampAuthority(t, authority);
  await postern.call('signature/update', { certificate: authority.pkcs12('signer'), password, timestampUrl: url });
  const valid = ['certificate', true, 'It is valid for 364 more days.'];
  assert.deepEqual(await steps(), [valid, ['sign', true, ''], ['timeStamp', true, '']]);
  state.change = () => null;
  const failed = 'The time-stamp authority has answered with status 500.';
  assert.deepEqual(await steps(), [valid, ['sign', true, ''], ['timeStamp', false, failed]]);
  clock.advance(366 * 24 * hour);
  assert.deepEqual(await steps(), [['certificate', false, 'The certificate for digital signatures has expired.']]);
});

test('only admins see and change the certificate', options, async (t) => {
  const { postern, authority } = await start(t);
  const { key } = await postern.call('apikey/add', { name: 'editor', role: 'editor' });
  const body = { certificate: authority.pkcs12('signer'), password };
  for (const [name, sent] of [
    ['get', {}],
    ['update', body],
    ['test', {}],
    ['delete', {}],
  ] as const)
    assert.equal((await postern.send(`signature/${name}`, sent, { key })).status, 403, name);
});

test('a certificate whose key is in a PKCS #11 token is stored only if the tenant may use the key and the key fits', {
  skip: options.skip || missingForToken() || false,
}, async (t) => {
  const token = await createToken(t);
  const { postern, authority } = await start(t, { ...token.environment, POSTERN_PKCS11_KEYS: '1:0a, 2:0c' });
  for (const name of ['one', 'two']) authority.issue(name);
  const pemOf = (name: string) => readFileSync(join(authority.folder, `${name}.pem`)).toString('base64');
  token.importKey(join(authority.folder, 'one.key'), '0a');
  token.importKey(join(authority.folder, 'one.key'), '0c');
  assert.deepEqual((await postern.call('signature/get')).tokenKeyIds, ['0a']);
  const update = (body: object) => postern.send('signature/update', { password: '', ...body });
  assert.deepEqual(fieldErrorsOf(await update({ certificate: pemOf('one'), tokenKeyId: '0c' })), ['tokenKeyId']);
  assert.deepEqual(fieldErrorsOf(await update({ certificate: pemOf('two'), tokenKeyId: '0a' })), ['tokenKeyId']);
  assert.deepEqual(fieldErrorsOf(await update({ certificate: authority.pkcs12('three'), tokenKeyId: '0a' })), ['certificate']);
  assert.equal((await update({ certificate: pemOf('one'), tokenKeyId: '0a' })).status, 200);
  const record = await postern.call('signature/get');
  assert.deepEqual([record.subject, record.tokenKeyId, record.certificate], ['CN=one, O=Acme', '0a', mask]);
  await postern.call('signature/update', record);
  assert.deepEqual(fieldErrorsOf(await update({ certificate: mask, password: mask, tokenKeyId: null })), ['tokenKeyId']);
  await postern.call('signature/update', { certificate: authority.pkcs12('three'), password, tokenKeyId: null });
  assert.equal((await postern.call('signature/get')).tokenKeyId, null);
});

test('a tenant that signs again and again does not keep the PKCS #11 token from another tenant', {
  skip: options.skip || missingForToken() || false,
}, async (t) => {
  const token = await createToken(t);
  const { postern, authority } = await start(t, { ...token.environment, POSTERN_PKCS11_KEYS: '1:0a, 2:0b' });
  const { key } = await addTenant(postern);
  for (const [name, id] of [
    ['one', '0a'],
    ['two', '0b'],
  ] as const) {
    authority.issue(name);
    token.importKey(join(authority.folder, `${name}.key`), id);
  }
  const bodyOf = (name: string, tokenKeyId: string) => ({
    ...{ certificate: readFileSync(join(authority.folder, `${name}.pem`)).toString('base64'), password: '', tokenKeyId },
  });
  let isOver = false;
  const signAgain = async (): Promise<void> => {
    while (!isOver) await postern.send('signature/update', bodyOf('one', '0a'));
  };
  const floods = Array.from({ length: 12 }, signAgain);
  try {
    for (let count = 0; count < 5; count += 1)
      assert.equal((await postern.send('signature/update', bodyOf('two', '0b'), { key })).status, 200);
  } finally {
    isOver = true;
    await Promise.all(floods);
  }
});

test('a long text of spaces and one other character, which is not base64, is refused in time linear in its length', async (t) => {
  const postern = await startPostern(t);
  const { status, body } = await postern.send('audit/trace', { file: `${' '.repeat(4_000_000)}!` });
  assert.deepEqual([status, body.errors[0].field], [400, 'file']);
});
