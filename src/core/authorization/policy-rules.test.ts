import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millisecondsPerDay } from '#core/instant.ts';
import { type GovernedShare, policyErrors, type TenantPolicy } from './policy-rules.ts';

const now = Date.UTC(2026, 5, 1);
const noPolicy: TenantPolicy = { longestValidityDays: null, signInRequired: false, secondFactorRequired: false, defaultPermissions: null };
const unlimitedShare = { active: true, from: null, to: null, requiresSignIn: false };
const invalidFields = (policy: Partial<TenantPolicy>, share: Partial<GovernedShare>) =>
  policyErrors({ ...noPolicy, ...policy }, { ...unlimitedShare, ...share }, now).map(({ field }) => field);

test('without a policy every share is allowed', () => assert.deepEqual(invalidFields({}, {}), []));

test('a share must end within the longest validity, counted from its start if that is in the future', () => {
  const policy = { longestValidityDays: 30 };
  assert.deepEqual(invalidFields(policy, {}), ['validityEndDate']);
  assert.deepEqual(invalidFields(policy, { to: now + 30 * millisecondsPerDay }), []);
  assert.deepEqual(invalidFields(policy, { to: now + 30 * millisecondsPerDay + 1 }), ['validityEndDate']);
  assert.deepEqual(invalidFields(policy, { from: now + 10 * millisecondsPerDay, to: now + 40 * millisecondsPerDay }), []);
  assert.deepEqual(invalidFields(policy, { from: now - 10 * millisecondsPerDay, to: now + 30 * millisecondsPerDay }), []);
});

test('a share without sign-in is refused if the policy requires sign-in', () => {
  assert.deepEqual(invalidFields({ signInRequired: true }, {}), ['authenticationId']);
  assert.deepEqual(invalidFields({ signInRequired: true }, { requiresSignIn: true }), []);
});

test('an inactive share is not checked', () => {
  assert.deepEqual(invalidFields({ signInRequired: true, longestValidityDays: 1 }, { active: false }), []);
});
