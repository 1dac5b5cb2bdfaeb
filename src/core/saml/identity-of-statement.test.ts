import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityOfStatement } from './identity-of-statement.ts';

const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
const user = (attributes: Record<string, string[]> = {}, nameIdFormat = emailFormat) => ({
  issuer: 'https://login.example',
  nameId: 'ann@example.com',
  nameIdFormat,
  attributes,
});

test('an e-mail address counts only if the profile trusts the provider, and only if the provider states a single address', () => {
  assert.equal(identityOfStatement(user(), {}).email, '');
  assert.equal(identityOfStatement(user(), { emailTrust: 'provider' }).email, 'ann@example.com');
  assert.equal(identityOfStatement(user({}, ''), { emailTrust: 'provider' }).email, '');
  const byAttribute = (mail: string[]) => identityOfStatement(user({ mail }), { emailTrust: 'provider', emailAttribute: 'mail' }).email;
  assert.deepEqual(
    [byAttribute(['a@example.com']), byAttribute(['a@example.com', 'b@example.com']), byAttribute([])],
    ['a@example.com', '', ''],
  );
});

test('a NameID that changes at each sign-in identifies nobody, so an attribute must name the user', () => {
  assert.throws(() => identityOfStatement(user({ uid: ['ann'] }, transient), {}), /Set usernameAttribute/);
  for (const uid of [[], ['ann', 'bob']])
    assert.throws(() => identityOfStatement(user({ uid }, transient), { usernameAttribute: 'uid' }), /not sent exactly one value/);
  const identity = identityOfStatement(user({ uid: ['ann'] }, transient), { usernameAttribute: 'uid' });
  assert.deepEqual([identity.subject, identity.names], ['https://login.example ann', ['ann']]);
});

test('a share can list a user by NameID, user name or group, but not by the display name', () => {
  const attributes = { displayName: ['The Boss'], uid: ['ann'], groups: ['editors', 'x'.repeat(256)] };
  const { names, groups, name } = identityOfStatement(user(attributes), { usernameAttribute: 'uid', groupsAttribute: 'groups' });
  assert.deepEqual([names, groups, name], [['ann@example.com', 'ann'], ['editors'], 'The Boss']);
});

test('a user is refused if the provider leaves out the groups because there are too many, or if the required group is missing', () => {
  const link = { 'http://schemas.microsoft.com/claims/groups.link': ['https://graph.example'] };
  assert.throws(() => identityOfStatement(user(link), { groupsAttribute: 'groups' }), /too many/);
  assert.throws(() => identityOfStatement(user({ groups: ['staff'] }), { groupsAttribute: 'groups', requireGroup: 'editors' }), /editors/);
  assert.equal(identityOfStatement(user({ groups: ['Editors'] }), { groupsAttribute: 'groups', requireGroup: 'editors' }).groups.length, 1);
});

test('attribute names such as __proto__ and constructor are treated like any other name', () => {
  assert.deepEqual(identityOfStatement(user(), { groupsAttribute: '__proto__', nameAttribute: 'constructor' }).groups, []);
});
