import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { adminKey, startPostern, type TestPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { addKey } from './keys.ts';

const secrets = ['very-secret-word-one', 'very-secret-word-two', 'very-secret-word-three'];
const [password, clientSecret, bindPassword] = secrets;
const oidc = { issuer: 'https://id.example.com', clientId: 'postern', clientSecret };
const ldap = { url: 'ldaps://ldap.example.com', baseDn: 'dc=x', bindDn: 'cn=y', bindPassword, userFilter: '(uid={username})' };
const text = JSON.stringify;
const shortKey = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs8', format: 'pem' });

async function addProfiles(postern: TestPostern) {
  const { id: byPassword } = await postern.call('loginprofile/add', { typeId: 2, password });
  const { id: byOidc } = await postern.call('loginprofile/add', { typeId: 5, configuration: text(oidc) });
  const { id: byLdap } = await postern.call('loginprofile/add', { typeId: 7, configuration: text(ldap) });
  return { byPassword, byOidc, byLdap };
}

const exportAudit = async (postern: TestPostern, query: string) =>
  (await fetch(`${postern.apiUrl}/api/v1/audit/export${query}`, { headers: { authorization: `Bearer ${adminKey}` } })).text();

test('loginprofile/get and loginprofile/search return secrets masked', async (t) => {
  const postern = await startPostern(t);
  const { byPassword, byOidc, byLdap } = await addProfiles(postern);
  assert.equal((await postern.call('loginprofile/get', { id: byPassword })).password, '********');
  assert.deepEqual(JSON.parse((await postern.call('loginprofile/get', { id: byOidc })).configuration), {
    ...oidc,
    clientSecret: '********',
  });
  assert.deepEqual(JSON.parse((await postern.call('loginprofile/get', { id: byLdap })).configuration), {
    ...ldap,
    bindPassword: '********',
  });
  const all = text([await postern.call('loginprofile/search'), await postern.call('loginprofile/search', { details: true })]);
  for (const secret of secrets) assert.ok(!all.includes(secret));
});

test('audit entries contain no secrets, in search or in export', async (t) => {
  const postern = await startPostern(t);
  const { byPassword, byOidc } = await addProfiles(postern);
  await postern.call('loginprofile/update', { id: byPassword, password: 'very-secret-word-four' });
  await postern.call('loginprofile/update', { id: byOidc, configuration: text({ ...oidc, clientSecret: 'very-secret-word-five' }) });
  await postern.call('loginprofile/duplicate', { id: byOidc, title: 'Copy' });
  await postern.call('accessuser/add', { username: 'ann', active: true });
  await postern.call('accessuser/updateUserPassword', {
    username: 'ann',
    userPassword: 'very-secret-word-six',
    confirmPassword: 'very-secret-word-six',
  });
  const key = await addKey(postern, 'reader');
  const rows = text([
    await postern.call('audit/search', { pageSize: 1000 }),
    await exportAudit(postern, ''),
    await exportAudit(postern, '?format=csv'),
  ]);
  assert.ok(rows.includes('loginprofile/update') && rows.includes('accessuser/updateUserPassword'));
  assert.doesNotMatch(rows, /very-secret|argon2/);
  assert.ok(!rows.includes(key));
});

test('no file of the data folder contains a secret of a login profile or an API key in plain text', async (t) => {
  const postern = await startPostern(t);
  await addProfiles(postern);
  const key = await addKey(postern, 'reader');
  await postern.call('apikey/add', { name: 'kept', role: 'reader' }, { headers: { 'idempotency-key': 'one' } });
  await postern.stop();
  const files = (await readdir(postern.data, { withFileTypes: true })).filter((entry) => entry.isFile());
  assert.ok(files.length > 0);
  for (const { name } of files) {
    const bytes = await readFile(join(postern.data, name), 'latin1');
    for (const secret of [...secrets, key]) assert.ok(!bytes.includes(secret), name);
  }
});

test('an update that contains the mask keeps the secret, and a new profile that contains the mask is refused', async (t) => {
  const postern = await startPostern(t);
  const { byOidc } = await addProfiles(postern);
  const { configuration } = await postern.call('loginprofile/get', { id: byOidc });
  await postern.call('loginprofile/update', { id: byOidc, configuration: text({ ...JSON.parse(configuration), clientId: 'other' }) });
  assert.deepEqual(JSON.parse((await postern.call('loginprofile/get', { id: byOidc })).configuration), {
    ...oidc,
    clientId: 'other',
    clientSecret: '********',
  });
  const refusal = await postern.send('loginprofile/add', { typeId: 5, configuration });
  assert.deepEqual([refusal.status, fieldErrorsOf(refusal)], [400, ['configuration']]);
  const maskedPassword = await postern.send('loginprofile/add', { typeId: 2, password: '********' });
  assert.deepEqual([maskedPassword.status, fieldErrorsOf(maskedPassword)], [400, ['password']]);
});

test('the mask is refused if the profile has no such secret, even if it has the secret of another profile type', async (t) => {
  const postern = await startPostern(t);
  const { byOidc } = await addProfiles(postern);
  const answer = await postern.send('loginprofile/update', {
    id: byOidc,
    typeId: 7,
    configuration: text({ ...ldap, bindPassword: '********' }),
  });
  assert.equal(answer.status, 400);
});

test('a configuration that does not fit its type is refused, and the error names the wrong field', async (t) => {
  const postern = await startPostern(t);
  for (const [typeId, configuration, fieldName] of [
    [3, text({ allow: [] }), 'configuration'],
    [1, text({ a: 1 }), 'configuration'],
    [4, text({ allow: ['not an address'] }), 'allow'],
    [4, text({ allow: 'a@example.com' }), 'allow'],
    [5, text({ ...oidc, issuer: 7 }), 'issuer'],
    [5, text({ issuer: oidc.issuer, clientId: 'x' }), 'clientSecret'],
    [5, text({ ...oidc, clientSecrt: 'x' }), 'clientSecrt'],
    [5, text({ ...oidc, clientAuth: 'private_key_jwt' }), 'clientSecret must be a private key in PEM (PKCS #8)'],
    [5, text({ ...oidc, clientAuth: 'private_key_jwt', clientSecret: shortKey }), 'clientSecret must be an RSA key of 2048 to 4096 bits'],
    [6, text({ entryPoint: 'https://x.example' }), 'entityId'],
    [7, text({ ...ldap, startTls: 'yes' }), 'startTls'],
    [5, '{', 'configuration'],
    [5, '[]', 'configuration'],
    [5, 'null', 'configuration'],
  ] as const) {
    const answer = await postern.send('loginprofile/add', { typeId, configuration });
    assert.equal(answer.status, 400, configuration);
    assert.deepEqual(
      [...new Set(answer.body.errors.map(({ field }: { field: string }) => field.split('.')[0]))],
      ['configuration'],
      configuration,
    );
    assert.ok(text(answer.body.errors).includes(fieldName), configuration);
  }
});

test('typeId is a number from 1 to 7, and the profile contains the matching typeString', async (t) => {
  const postern = await startPostern(t);
  const configurations = [
    '',
    '',
    '',
    text({ allow: ['*@example.com'] }),
    text(oidc),
    text({ metadataUrl: 'https://idp.example/metadata' }),
    text(ldap),
  ];
  for (const [index, typeString] of ['PUBLIC', 'PASSWORD', 'USERS', 'EMAIL_CODE', 'OIDC', 'SAML', 'LDAP'].entries()) {
    const { id } = await postern.call('loginprofile/add', {
      typeId: index + 1,
      configuration: configurations[index],
      ...(index === 1 ? { password } : {}),
    });
    const profile = await postern.call('loginprofile/get', { id });
    assert.deepEqual([profile.typeId, profile.typeString], [index + 1, typeString]);
  }
  for (const typeId of [0, 8, -1, 1.5, '3'])
    assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/add', { typeId })), ['typeId']);
});

test('a PASSWORD profile without a password is refused, both when it is added and when a profile gets this type', async (t) => {
  const postern = await startPostern(t);
  assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/add', { typeId: 2 })), ['password']);
  const { id } = await postern.call('loginprofile/add', { typeId: 3 });
  assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/update', { id, typeId: 2 })), ['password']);
});

test('lang is empty or the tag of an available language', async (t) => {
  const postern = await startPostern(t);
  for (const lang of ['xx', 'english', 'e', '*'])
    assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/add', { lang })), ['lang']);
  for (const lang of ['', 'en']) assert.equal((await postern.send('loginprofile/add', { lang })).status, 200);
});

test('two users of an EMAIL_CODE profile cannot have the same e-mail address, not even after a user or the type of the profile is changed', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('loginprofile/add', { typeId: 4, configuration: text({ allow: [] }) });
  await postern.call('accessuser/add', { username: 'ann', active: true, authId: id, email: 'Ann@example.com' });
  assert.equal((await postern.send('accessuser/add', { username: 'eve', active: true, authId: id, email: 'ann@EXAMPLE.com' })).status, 409);
  const { id: bob } = await postern.call('accessuser/add', { username: 'bob', active: true, email: 'ann@example.com' });
  assert.equal((await postern.send('accessuser/update', { id: bob, authId: id })).status, 409);
  const { id: cyd } = await postern.call('accessuser/add', { username: 'cyd', active: true, authId: id, email: 'cyd@example.com' });
  assert.equal((await postern.send('accessuser/update', { id: cyd, authId: id, email: 'ANN@example.com' })).status, 409);
  const { id: users } = await postern.call('loginprofile/add', { typeId: 3 });
  for (const username of ['x', 'y'])
    await postern.call('accessuser/add', { username, active: true, authId: users, email: 'same@example.com' });
  assert.equal((await postern.send('loginprofile/update', { id: users, typeId: 4, configuration: text({ allow: [] }) })).status, 409);
});
