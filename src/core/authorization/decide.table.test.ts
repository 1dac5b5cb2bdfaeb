import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { packRangeText } from './address-range.ts';
import { type Action, actions, type Denial, decide, type EntryRequest, type Question } from './decide.ts';
import type { Permissions, Visitor } from './share-rules.ts';

// The expected results come from the documentation for integrators, not from the code of decide.ts.
const document = readFileSync(new URL('../../../docs/integrator/access-rules.md', import.meta.url), 'utf8');

/** Returns the rows of the table whose header begins with these cells. */
function table(...header: readonly string[]): readonly (readonly string[])[] {
  const lines = document.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${header.join(' | ')} |`));
  assert.notEqual(start, -1, `access-rules.md has no table ${header.join(', ')}`);
  const rows = lines.slice(start + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

const splitCell = (cell: string | undefined) => (cell === undefined || cell === 'none' ? [] : cell.split(', '));
const wordOf: Record<Action | EntryRequest, string> = {
  ...(Object.fromEntries(actions.map((action) => [action, action])) as Record<Action, string>),
  page: 'page',
  signIn: 'sign-in',
  signOut: 'sign-out',
};
const requests = Object.keys(wordOf) as (Action | EntryRequest)[];

const flagsByAction = new Map(table('Action', 'Request', 'Flags').map(([action = '', , flags]) => [action, splitCell(flags)]));
const entryRequests = table('Access', 'Request').map(([access]) => access);
const flagsForReplacing = table('Action', 'Request', 'Also requires').flatMap(([, , flags]) => splitCell(flags));
const documentedStates = table('State', 'Meaning', 'Status', 'Still allowed').map(([state = '', , status, passes]) => ({
  state,
  status: Number(status),
  passes: splitCell(passes),
}));
const beforeSignIn = new Map(table('State', 'Still allowed before sign-in').map(([state = '', passes]) => [state, splitCell(passes)]));

const statusOf: Record<Denial, number> = { unknown: 404, ended: 410, address: 403, signIn: 401, audience: 403, permission: 403 };

const flags = ['canView', 'canDownload', 'canDownloadFolder', 'canUpload', 'canCreateFolder', 'canRename', 'canDelete'] as const;
const allPermissions = Array.from({ length: 2 ** flags.length }, (_, bits) => ({
  enabledFlags: new Set<string>(flags.filter((_flag, index) => bits & (1 << index))),
  can: Object.fromEntries(flags.map((flag, index) => [flag, (bits & (1 << index)) !== 0])) as unknown as Permissions,
}));

const now = Date.UTC(2026, 0, 31, 9);
const allPeriods = [
  { from: null, to: null, state: null },
  { from: now - 1, to: now + 1, state: null },
  { from: now, to: null, state: null }, // the first instant is included
  { from: now + 1, to: now + 2, state: 'scheduled' },
  { from: null, to: now, state: 'ended' }, // the last instant is not included
  { from: now - 2, to: now - 1, state: 'ended' },
];
const allAddresses = [
  { ipRanges: packRangeText(''), address: '203.0.113.9', outside: false },
  { ipRanges: packRangeText('192.0.2.1, 203.0.113.0/24'), address: '203.0.113.9', outside: false },
  { ipRanges: packRangeText('192.0.2.1, 198.51.100.0/24'), address: '203.0.113.9', outside: true },
];
const ann = { names: ['Ann', 'ann@example.com'], groups: ['Auditors'] };
const allVisitors = [
  { requiresSignIn: false, identity: null },
  { requiresSignIn: true, identity: null },
  { requiresSignIn: true, identity: ann },
];
const allAudiences = [
  { allowAllUsers: true, userNames: [], groupNames: [], admits: 'everybody' },
  { allowAllUsers: false, userNames: ['bob', 'ann'], groupNames: [], admits: 'ann' },
  { allowAllUsers: false, userNames: [], groupNames: ['auditors'], admits: 'ann' },
  { allowAllUsers: false, userNames: ['bob', 'auditors'], groupNames: ['clients', 'ann'], admits: 'others' },
  { allowAllUsers: false, userNames: [], groupNames: [], admits: 'nobody' },
];

interface Case {
  readonly question: Question;
  /** The states of the documentation that apply. */
  readonly states: ReadonlySet<string>;
  readonly enabledFlags: ReadonlySet<string>;
}

function* allCircumstances() {
  for (const active of [true, false])
    for (const period of allPeriods)
      for (const source of allAddresses)
        for (const { requiresSignIn, identity } of allVisitors)
          for (const { admits, ...audience } of allAudiences) {
            const states = new Set<string>();
            if (!active) states.add('inactive');
            if (period.state) states.add(period.state);
            if (source.outside) states.add('address outside');
            if (requiresSignIn && !identity) states.add('not signed in');
            if (!(admits === 'everybody' || (admits === 'ann' && identity))) states.add('not in the audience');
            const visitor: Visitor = { address: source.address, identity };
            const profile = { requiresSignIn, ipRanges: source.ipRanges };
            yield { states, visitor, profile, rules: { ...audience, active, validFrom: period.from, validTo: period.to } };
          }
}

const protection = { copyProtect: false, copyProtectText: false, waterMarkText: '', digitalSignature: false };

function* allCases(): Generator<Case> {
  for (const { states, visitor, profile, rules } of allCircumstances())
    for (const { enabledFlags, can } of allPermissions)
      for (const request of requests)
        for (const replaces of request === 'upload' ? [false, true] : [false]) {
          const share = { ...rules, ...can, ...protection };
          yield { question: { request, share, profile, visitor, now, replaces }, states, enabledFlags };
        }
}

/** Returns the documented status of a case: 200 if no state refuses the request. */
function expectedStatus({ question: { request, replaces }, states, enabledFlags }: Case): number {
  const word = wordOf[request];
  const isPermissionOff = () => {
    const flagsOfAction = flagsByAction.get(word) ?? [];
    return (
      (flagsOfAction.length > 0 && !flagsOfAction.some((flag) => enabledFlags.has(flag))) ||
      (replaces === true && !flagsForReplacing.every((flag) => enabledFlags.has(flag)))
    );
  };
  for (const { state, status, passes } of documentedStates) {
    if (!(state === 'permission off' ? isPermissionOff() : states.has(state))) continue;
    const passesBeforeSignIn = states.has('not signed in') ? (beforeSignIn.get(state) ?? []) : [];
    if (!passes.includes(word) && !passesBeforeSignIn.includes(word)) return status;
  }
  return 200;
}

const statusFor = (question: Question) => {
  const decision = decide(question);
  return 'because' in decision ? statusOf[decision.because] : 200;
};

test('the documentation names every action, every entry request and every flag', () => {
  assert.deepEqual([...flagsByAction.keys()], [...actions]);
  assert.deepEqual(
    entryRequests,
    requests.filter((request) => !flagsByAction.has(request)).map((request) => wordOf[request]),
  );
  assert.deepEqual([...new Set([...flagsByAction.values()].flat())].sort(), [...flags].sort());
  const expectedStates = ['inactive', 'scheduled', 'ended', 'address outside', 'not signed in', 'not in the audience', 'permission off'];
  assert.deepEqual(
    documentedStates.map(({ state }) => state),
    expectedStates,
  );
});

test('a link answers with the documented status code for every combination of flags in every state', () => {
  const mismatches: object[] = [];
  let count = 0;
  for (const testCase of allCases()) {
    count += 1;
    const [expected, actual] = [expectedStatus(testCase), statusFor(testCase.question)];
    if (expected !== actual && mismatches.length < 5)
      mismatches.push({
        request: testCase.question.request,
        states: [...testCase.states],
        flags: [...testCase.enabledFlags],
        expected,
        actual,
      });
  }
  assert.deepEqual(mismatches, []);
  assert.equal(count, 2 * allPeriods.length * 3 * 3 * allAudiences.length * 128 * (requests.length + 1));
});

test('a link that does not exist answers 404 to every request', () => {
  const profile = { requiresSignIn: false, ipRanges: '' };
  for (const request of requests)
    assert.equal(statusFor({ request, share: null, profile, visitor: { address: '::1', identity: null }, now }), 404);
});
