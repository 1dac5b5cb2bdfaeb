import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { packRangeText } from './address-range.ts';
import { actions, type Denial, decide, explainDecision, findPortalDenial, type Question } from './decide.ts';
import type { ShareRules } from './share-rules.ts';

const flags = ['canView', 'canDownload', 'canDownloadFolder', 'canUpload', 'canCreateFolder', 'canRename', 'canDelete'] as const;
const anyName = fc.constantFrom('ann', 'Ann', 'bob', 'auditors', 'ÉMILE', 'émile');
const anyNames = fc.array(anyName, { maxLength: 3 });
const anyInstant = fc.integer({ min: 0, max: 10 });
const anyEnd = fc.option(anyInstant, { nil: null });

const anyShare: fc.Arbitrary<ShareRules> = fc.record({
  active: fc.boolean(),
  validFrom: anyEnd,
  validTo: anyEnd,
  canView: fc.boolean(),
  canDownload: fc.boolean(),
  canDownloadFolder: fc.boolean(),
  canUpload: fc.boolean(),
  canCreateFolder: fc.boolean(),
  canRename: fc.boolean(),
  canDelete: fc.boolean(),
  copyProtect: fc.boolean(),
  copyProtectText: fc.boolean(),
  waterMarkText: fc.constantFrom('', 'draft'),
  digitalSignature: fc.boolean(),
  allowAllUsers: fc.boolean(),
  userNames: anyNames,
  groupNames: anyNames,
});

const loopback = packRangeText('127.0.0.1');
const anyQuestion = fc.record({
  request: fc.constantFrom(...actions, 'page' as const, 'signIn' as const, 'signOut' as const),
  share: anyShare,
  profile: fc.record({ requiresSignIn: fc.boolean(), ipRanges: fc.constantFrom('', loopback) }),
  visitor: fc.record({
    address: fc.constantFrom('127.0.0.1', '::ffff:127.0.0.1', '127.0.0.2', '::1'),
    identity: fc.option(fc.record({ names: anyNames, groups: anyNames }), { nil: null }),
  }),
  now: anyInstant,
  replaces: fc.boolean(),
});
type LinkQuestion = typeof anyQuestion extends fc.Arbitrary<infer T> ? T : never;

const denialOf = (question: Question): Denial | null => {
  const decision = decide(question);
  return 'because' in decision ? decision.because : null;
};
const allows = (question: Question) => denialOf(question) === null;
const withShare = (question: LinkQuestion, changes: Partial<ShareRules>): LinkQuestion => ({
  ...question,
  share: { ...question.share, ...changes },
});
const assertForAll = (check: (question: LinkQuestion) => void) => fc.assert(fc.property(anyQuestion, check), { numRuns: 2000 });

for (const flag of flags)
  test(`removing ${flag} never gives a visitor more access`, () =>
    assertForAll((question) => assert.ok(allows(question) || !allows(withShare(question, { [flag]: false })))));

test('a smaller audience never gives a visitor more access', () =>
  assertForAll((question) => {
    if (allows(question)) return;
    for (const smaller of [{ allowAllUsers: false }, { userNames: [] }, { groupNames: [] }])
      assert.ok(!allows(withShare(question, smaller)));
  }));

test('a shorter validity never gives a visitor more access', () =>
  assertForAll((question) => {
    const { validFrom, validTo } = question.share;
    const shorter = withShare(question, { validFrom: (validFrom ?? 0) + 1, validTo: (validTo ?? 10) - 1 });
    assert.ok(allows(question) || !allows(shorter));
  }));

test('if sign-in is required, an anonymous visitor can only open the page, visit, sign in and sign out', () =>
  assertForAll((question) => {
    const anonymous = {
      ...question,
      profile: { ...question.profile, requiresSignIn: true },
      visitor: { ...question.visitor, identity: null },
    };
    if (['page', 'signIn', 'signOut', 'visit'].includes(question.request)) return;
    assert.ok(!allows(anonymous));
  }));

test('signing out never gives a visitor more access, except for the visit action, which explains how to sign in', () =>
  assertForAll((question) => {
    if (question.request === 'visit') return;
    assert.ok(allows(question) || !allows({ ...question, visitor: { ...question.visitor, identity: null } }));
  }));

test('an inactive share gets the same decision as a share that does not exist', () =>
  assertForAll((question) => assert.deepEqual(decide(withShare(question, { active: false })), decide({ ...question, share: null }))));

test('a share before its start gets the same decision as a share that does not exist', () =>
  assertForAll((question) =>
    assert.deepEqual(decide(withShare(question, { validFrom: question.now + 1 })), decide({ ...question, share: null })),
  ));

test('an ended share does not open again later', () =>
  assertForAll((question) => {
    if (denialOf(question) !== 'ended') return;
    assert.equal(denialOf({ ...question, now: question.now + 1 }), 'ended');
  }));

test('upper and lower case in names and groups makes no difference', () =>
  assertForAll((question) => {
    const { userNames, groupNames } = question.share;
    const upperCase = { userNames: userNames.map((name) => name.toUpperCase()), groupNames: groupNames.map((name) => name.toUpperCase()) };
    assert.equal(denialOf(withShare(question, upperCase)), denialOf(question));
  }));

test('the protection of files has no effect on who may access them', () =>
  assertForAll((question) => {
    const unprotected = { copyProtect: false, copyProtectText: false, waterMarkText: '', digitalSignature: false };
    assert.equal(denialOf(withShare(question, unprotected)), denialOf(question));
  }));

test('the same question always gets the same decision', () =>
  assertForAll((question) => assert.equal(denialOf(question), denialOf(structuredClone(question)))));

const denialOfRule: Record<string, Denial> = {
  active: 'unknown',
  started: 'unknown',
  notEnded: 'ended',
  address: 'address',
  signIn: 'signIn',
  audience: 'audience',
  permission: 'permission',
};

test('the first violated rule of an explanation matches the reason of the decision', () =>
  assertForAll((question) => {
    const violated = explainDecision(question).find(({ passed }) => passed === false);
    assert.equal(violated ? denialOfRule[violated.rule] : null, denialOf(question));
  }));

test('an explanation lists every rule, in the order in which they are checked', () =>
  assertForAll((question) =>
    assert.deepEqual(
      explainDecision(question).map(({ rule }) => rule),
      Object.keys(denialOfRule),
    ),
  ));

test('an explanation without an address has no result for the address rule', () =>
  assertForAll((question) => {
    const rule = explainDecision({ ...question, visitor: { ...question.visitor, address: null } }).find(({ rule }) => rule === 'address');
    assert.equal(rule?.passed, null);
  }));

test('an explanation never says that an anonymous visitor has signed in', () =>
  assertForAll((question) => {
    const anonymous = {
      ...question,
      profile: { ...question.profile, requiresSignIn: true },
      visitor: { ...question.visitor, identity: null },
    };
    assert.doesNotMatch(explainDecision(anonymous).find(({ rule }) => rule === 'signIn')?.reason ?? '', /has signed in/);
  }));

test('the explanation of a missing permission names only permissions that are off', () =>
  assertForAll((question) => {
    const { passed, reason = '' } = explainDecision(question).find(({ rule }) => rule === 'permission') ?? {};
    if (passed) return;
    const namedFlags = flags.filter((flag) => new RegExp(`\\b${flag}\\b`).test(reason));
    assert.ok(namedFlags.length > 0 && namedFlags.every((flag) => !question.share[flag]), reason);
  }));

test('the explanation of an upload that replaces a file names each permission that is off', () =>
  assertForAll((question) => {
    const reasonFor = (canUpload: boolean, canDelete: boolean) => {
      const upload = { ...withShare(question, { canUpload, canDelete }), request: 'upload' as const, replaces: true };
      return explainDecision(upload).find(({ rule }) => rule === 'permission')?.reason;
    };
    assert.equal(reasonFor(true, true), 'canUpload is on. canDelete is on.');
    assert.equal(reasonFor(true, false), 'canDelete is off.');
    assert.equal(reasonFor(false, true), 'canUpload is off.');
    assert.equal(reasonFor(false, false), 'canUpload is off. canDelete is off.');
  }));

test('only a profile that requires sign-in has a portal, which refuses addresses outside the ranges of the profile', () =>
  assertForAll(({ profile, visitor }) => {
    const isInside = profile.ipRanges === '' || visitor.address.endsWith('127.0.0.1');
    const denial = !profile.requiresSignIn ? 'unknown' : isInside ? null : 'address';
    assert.equal(findPortalDenial(profile, visitor)?.because ?? null, denial);
  }));
