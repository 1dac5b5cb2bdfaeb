import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaimsRefused, identityOfClaims, needsUserinfo, usedClaims } from './identity-of-claims.ts';
import { isSharedIssuer } from './issuer.ts';

const configuration = { issuer: 'https://login.example', clientId: 'postern', usernameClaim: 'upn', groupsClaim: 'realm.roles' };
const subject = { iss: 'https://login.example', sub: 'ann' };
const identity = (...sources: object[]) =>
  identityOfClaims(
    subject,
    sources.map((source) => ({ ...source })),
    configuration,
  );

test('an e-mail address counts as verified only if the source of the address says so', () => {
  const unverified = { email: 'ceo@example.com' };
  const verified = { email: 'ann@example.com', email_verified: true };
  assert.equal(identity(unverified, verified).email, 'ann@example.com');
  assert.equal(identity(unverified, { email_verified: true }).email, '');
  assert.equal(identity({ ...unverified, email_verified: false }, verified).email, '');
});

test('a name or a group that is too long is ignored, not shortened: its beginning could be the name of somebody else', () => {
  const longestName = 'a'.repeat(255);
  assert.deepEqual(identity({ upn: `${longestName}x`, realm: { roles: [`${longestName}x`, 'staff'] } }).names, ['ann']);
  assert.deepEqual(identity({ upn: `${longestName}x`, realm: { roles: [`${longestName}x`, 'staff'] } }).groups, ['staff']);
  assert.deepEqual(identity({ upn: longestName }).names, ['ann', longestName]);
});

test('Postern requests userinfo if the ID token lacks a claim that the configuration needs', () => {
  const completeClaims = { email: 'a@example.com', email_verified: true, upn: 'ann', realm: { roles: [] } };
  assert.equal(needsUserinfo(completeClaims, configuration), false);
  for (const missing of ['email', 'email_verified', 'upn', 'realm'])
    assert.equal(needsUserinfo({ ...completeClaims, [missing]: undefined }, configuration), true, missing);
  assert.equal(needsUserinfo({ ...completeClaims, email_verified: undefined }, { ...configuration, emailTrust: 'provider' }), false);
});

test('the claims that a session stores describe the same visitor as the complete claims', () => {
  const claims = {
    ...subject,
    name: 'Ann',
    email: 'a@example.com',
    email_verified: true,
    upn: 'ann.a',
    realm: { roles: ['staff'] },
    other: 1,
  };
  const storedClaims = usedClaims(claims, configuration);
  assert.ok(!('other' in storedClaims));
  assert.deepEqual(identityOfClaims(storedClaims, [storedClaims], configuration), identityOfClaims(claims, [claims], configuration));
});

test('claims without a valid subject are refused', () => {
  for (const sub of [undefined, '', 1, 'x'.repeat(256)])
    assert.throws(() => identityOfClaims({ ...subject, sub }, [], configuration), ClaimsRefused);
});

test('an issuer with a placeholder for the organization is recognized', () => {
  assert.equal(isSharedIssuer('https://login.microsoftonline.com/{tenantid}/v2.0'), true);
  assert.equal(isSharedIssuer('https://login.microsoftonline.com/%7Btenantid%7D/v2.0'), true);
  assert.equal(isSharedIssuer('https://login.microsoftonline.com/2f7f1a1e-1111-4222-8333-444455556666/v2.0'), false);
});
