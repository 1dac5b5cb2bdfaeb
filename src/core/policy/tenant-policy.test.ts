import assert from 'node:assert/strict';
import { test } from 'node:test';
import { day } from '#core/instant.ts';
import { type GovernedShare, policyErrors, type TenantPolicy } from './tenant-policy.ts';

const now = Date.UTC(2026, 5, 1);
const none: TenantPolicy = { longestValidityDays: null, signInRequired: false, defaultPermissions: null };
const open = { active: true, from: null, to: null, asksSignIn: false };
const fields = (policy: Partial<TenantPolicy>, share: Partial<GovernedShare>) =>
  policyErrors({ ...none, ...policy }, { ...open, ...share }, now).map(({ field }) => field);

test('without a policy every share is allowed', () => assert.deepEqual(fields({}, {}), []));

test('a share must end within the longest validity, counted from its beginning where that is still to come', () => {
  const policy = { longestValidityDays: 30 };
  assert.deepEqual(fields(policy, {}), ['validityEndDate']);
  assert.deepEqual(fields(policy, { to: now + 30 * day }), []);
  assert.deepEqual(fields(policy, { to: now + 30 * day + 1 }), ['validityEndDate']);
  assert.deepEqual(fields(policy, { from: now + 10 * day, to: now + 40 * day }), []);
  assert.deepEqual(fields(policy, { from: now - 10 * day, to: now + 30 * day }), []);
});

test('where sign-in is required, a share without it is refused', () => {
  assert.deepEqual(fields({ signInRequired: true }, {}), ['authenticationId']);
  assert.deepEqual(fields({ signInRequired: true }, { asksSignIn: true }), []);
});

test('a share that is not active may be anything', () => {
  assert.deepEqual(fields({ signInRequired: true, longestValidityDays: 1 }, { active: false }), []);
});
