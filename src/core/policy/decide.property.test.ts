import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { packList } from './address-range.ts';
import { actions, type Denial, decide, decidePortal, explain, type Question } from './decide.ts';
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
  waterMarkText: fc.constantFrom('', 'draft'),
  digitalSignature: fc.boolean(),
  allowAllUsers: fc.boolean(),
  userNames: anyNames,
  groupNames: anyNames,
});

const loopback = packList('127.0.0.1');
const anyQuestion = fc.record({
  request: fc.constantFrom(...actions, 'page' as const, 'signIn' as const, 'signOut' as const),
  share: anyShare,
  profile: fc.record({ asksSignIn: fc.boolean(), ipRanges: fc.constantFrom('', loopback) }),
  visitor: fc.record({
    address: fc.constantFrom('127.0.0.1', '::ffff:127.0.0.1', '127.0.0.2', '::1'),
    identity: fc.option(fc.record({ names: anyNames, groups: anyNames }), { nil: null }),
  }),
  now: anyInstant,
  replaces: fc.boolean(),
});
type Known = typeof anyQuestion extends fc.Arbitrary<infer T> ? T : never;

const denialOf = (question: Question): Denial | null => {
  const decision = decide(question);
  return 'because' in decision ? decision.because : null;
};
const allows = (question: Question) => denialOf(question) === null;
const withShare = (question: Known, over: Partial<ShareRules>): Known => ({ ...question, share: { ...question.share, ...over } });
const holds = (check: (question: Known) => void) => fc.assert(fc.property(anyQuestion, check), { numRuns: 2000 });

for (const flag of flags)
  test(`taking ${flag} away never lets a visitor do more`, () =>
    holds((question) => assert.ok(allows(question) || !allows(withShare(question, { [flag]: false })))));

test('admitting fewer never lets a visitor do more', () =>
  holds((question) => {
    if (allows(question)) return;
    for (const fewer of [{ allowAllUsers: false }, { userNames: [] }, { groupNames: [] }]) assert.ok(!allows(withShare(question, fewer)));
  }));

test('a shorter window never lets a visitor do more', () =>
  holds((question) => {
    const { validFrom, validTo } = question.share;
    const shorter = withShare(question, { validFrom: (validFrom ?? 0) + 1, validTo: (validTo ?? 10) - 1 });
    assert.ok(allows(question) || !allows(shorter));
  }));

test('asking for sign-in never lets a visitor who has not signed in take an action', () =>
  holds((question) => {
    const stranger = { ...question, profile: { ...question.profile, asksSignIn: true }, visitor: { ...question.visitor, identity: null } };
    if (['page', 'signIn', 'signOut', 'visit'].includes(question.request)) return;
    assert.ok(!allows(stranger));
  }));

test('signing out never lets a visitor do more than look how to sign in', () =>
  holds((question) => {
    if (question.request === 'visit') return;
    assert.ok(allows(question) || !allows({ ...question, visitor: { ...question.visitor, identity: null } }));
  }));

test('a stopped share answers as if it had never been', () =>
  holds((question) => assert.deepEqual(decide(withShare(question, { active: false })), decide({ ...question, share: null }))));

test('a share that has not begun answers as if it had never been', () =>
  holds((question) =>
    assert.deepEqual(decide(withShare(question, { validFrom: question.now + 1 })), decide({ ...question, share: null })),
  ));

test('once ended, a share never opens again by waiting', () =>
  holds((question) => {
    if (denialOf(question) !== 'ended') return;
    assert.equal(denialOf({ ...question, now: question.now + 1 }), 'ended');
  }));

test('the case of a name and of a group decides nothing', () =>
  holds((question) => {
    const { userNames, groupNames } = question.share;
    const shouted = { userNames: userNames.map((name) => name.toUpperCase()), groupNames: groupNames.map((name) => name.toUpperCase()) };
    assert.equal(denialOf(withShare(question, shouted)), denialOf(question));
  }));

test('how a file is protected decides nothing about who may reach it', () =>
  holds((question) => {
    const plain = { copyProtect: false, waterMarkText: '', digitalSignature: false };
    assert.equal(denialOf(withShare(question, plain)), denialOf(question));
  }));

test('the same question is always answered the same', () =>
  holds((question) => assert.equal(denialOf(question), denialOf(structuredClone(question)))));

const denialOfRule: Record<string, Denial> = {
  active: 'unknown',
  begun: 'unknown',
  notEnded: 'ended',
  address: 'address',
  signIn: 'signIn',
  audience: 'audience',
  permission: 'permission',
};

test('an explanation names as first broken rule the one that the link answers with', () =>
  holds((question) => {
    const broken = explain(question).find(({ passed }) => passed === false);
    assert.equal(broken ? denialOfRule[broken.rule] : null, denialOf(question));
  }));

test('an explanation tells every rule, in the order in which they are asked', () =>
  holds((question) =>
    assert.deepEqual(
      explain(question).map(({ rule }) => rule),
      Object.keys(denialOfRule),
    ),
  ));

test('an explanation without an address leaves the address rule open', () =>
  holds((question) => {
    const rule = explain({ ...question, visitor: { ...question.visitor, address: null } }).find(({ rule }) => rule === 'address');
    assert.equal(rule?.passed, null);
  }));

test('an explanation never says of a stranger that they have signed in', () =>
  holds((question) => {
    const stranger = { ...question, profile: { ...question.profile, asksSignIn: true }, visitor: { ...question.visitor, identity: null } };
    assert.doesNotMatch(explain(stranger).find(({ rule }) => rule === 'signIn')?.reason ?? '', /has signed in/);
  }));

test('a portal is there only for a profile that asks for sign-in, and only within its addresses', () =>
  holds(({ profile, visitor }) => {
    const inside = profile.ipRanges === '' || visitor.address.endsWith('127.0.0.1');
    const denial = !profile.asksSignIn ? 'unknown' : inside ? null : 'address';
    assert.equal(decidePortal(profile, visitor)?.because ?? null, denial);
  }));
