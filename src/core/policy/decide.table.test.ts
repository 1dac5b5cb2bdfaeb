import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { packList } from './address-range.ts';
import { type Action, actions, type Denial, decide, type EntryRequest, type Question } from './decide.ts';
import type { Permissions, Visitor } from './share-rules.ts';

// The expectation is computed from the page that integrators read, by no line of decide.ts.
const document = readFileSync(new URL('../../../docs/integrator/who-may-do-what.md', import.meta.url), 'utf8');

/** The rows of the table whose header begins with these cells. */
function table(...header: readonly string[]): readonly (readonly string[])[] {
  const lines = document.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${header.join(' | ')} |`));
  assert.notEqual(start, -1, `the page has no table ${header.join(', ')}`);
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

const words = (cell: string | undefined) => (cell === undefined || cell === 'none' ? [] : cell.split(', '));
const wordOf: Record<Action | EntryRequest, string> = {
  ...(Object.fromEntries(actions.map((action) => [action, action])) as Record<Action, string>),
  page: 'page',
  signIn: 'sign-in',
  signOut: 'sign-out',
};
const requests = Object.keys(wordOf) as (Action | EntryRequest)[];

const needs = new Map(table('Action', 'Request', 'Flags').map(([action = '', , flags]) => [action, words(flags)]));
const approaches = table('Approach', 'Request').map(([approach]) => approach);
const replacingNeeds = table('Action', 'Request', 'Needs besides').flatMap(([, , flags]) => words(flags));
const states = table('State', 'Meaning', 'Answer', 'Passes').map(([state = '', , answer, passes]) => ({
  state,
  answer: Number(answer),
  passes: words(passes),
}));
const beforeSignIn = new Map(table('State', 'Passes before sign-in').map(([state = '', passes]) => [state, words(passes)]));

const statusOf: Record<Denial, number> = { unknown: 404, ended: 410, address: 403, signIn: 401, audience: 403, permission: 403 };

const flags = ['canView', 'canDownload', 'canDownloadFolder', 'canUpload', 'canCreateFolder', 'canRename', 'canDelete'] as const;
const everyPermissions = Array.from({ length: 2 ** flags.length }, (_, bits) => ({
  on: new Set<string>(flags.filter((_flag, index) => bits & (1 << index))),
  can: Object.fromEntries(flags.map((flag, index) => [flag, (bits & (1 << index)) !== 0])) as unknown as Permissions,
}));

const now = Date.UTC(2026, 0, 31, 9);
const everyWindow = [
  { from: null, to: null, is: null },
  { from: now - 1, to: now + 1, is: null },
  { from: now, to: null, is: null }, // begins with its first instant
  { from: now + 1, to: now + 2, is: 'not begun' },
  { from: null, to: now, is: 'ended' }, // ends before its last
  { from: now - 2, to: now - 1, is: 'ended' },
];
const everyAddress = [
  { ipRanges: packList(''), address: '203.0.113.9', outside: false },
  { ipRanges: packList('192.0.2.1, 203.0.113.0/24'), address: '203.0.113.9', outside: false },
  { ipRanges: packList('192.0.2.1, 198.51.100.0/24'), address: '203.0.113.9', outside: true },
];
const ann = { names: ['Ann', 'ann@example.com'], groups: ['Auditors'] };
const everyVisitor = [
  { asksSignIn: false, identity: null },
  { asksSignIn: true, identity: null },
  { asksSignIn: true, identity: ann },
];
const everyAudience = [
  { allowAllUsers: true, userNames: [], groupNames: [], admits: 'everybody' },
  { allowAllUsers: false, userNames: ['bob', 'ann'], groupNames: [], admits: 'ann' },
  { allowAllUsers: false, userNames: [], groupNames: ['auditors'], admits: 'ann' },
  { allowAllUsers: false, userNames: ['bob', 'auditors'], groupNames: ['clients', 'ann'], admits: 'others' },
  { allowAllUsers: false, userNames: [], groupNames: [], admits: 'nobody' },
];

interface Case {
  readonly question: Question;
  /** The states of the page that apply, and the flags that are on. */
  readonly applies: ReadonlySet<string>;
  readonly on: ReadonlySet<string>;
}

function* everyCircumstance() {
  for (const active of [true, false])
    for (const window of everyWindow)
      for (const place of everyAddress)
        for (const { asksSignIn, identity } of everyVisitor)
          for (const { admits, ...audience } of everyAudience) {
            const applies = new Set<string>();
            if (!active) applies.add('inactive');
            if (window.is) applies.add(window.is);
            if (place.outside) applies.add('address outside');
            if (asksSignIn && !identity) applies.add('not signed in');
            if (!(admits === 'everybody' || (admits === 'ann' && identity))) applies.add('not in the audience');
            const visitor: Visitor = { address: place.address, identity };
            const profile = { asksSignIn, ipRanges: place.ipRanges };
            yield { applies, visitor, profile, rules: { ...audience, active, validFrom: window.from, validTo: window.to } };
          }
}

const protection = { copyProtect: false, waterMarkText: '', digitalSignature: false };

function* everyCase(): Generator<Case> {
  for (const { applies, visitor, profile, rules } of everyCircumstance())
    for (const { on, can } of everyPermissions)
      for (const request of requests)
        for (const replaces of request === 'upload' ? [false, true] : [false]) {
          const share = { ...rules, ...can, ...protection };
          yield { question: { request, share, profile, visitor, now, replaces }, applies, on };
        }
}

/** What the page says of a case: 200 where nothing stands in the way. */
function expected({ question: { request, replaces }, applies, on }: Case): number {
  const word = wordOf[request];
  const flagsOff = () => {
    const named = needs.get(word) ?? [];
    return (
      (named.length > 0 && !named.some((flag) => on.has(flag))) || (replaces === true && !replacingNeeds.every((flag) => on.has(flag)))
    );
  };
  for (const { state, answer, passes } of states) {
    if (!(state === 'permission off' ? flagsOff() : applies.has(state))) continue;
    const early = applies.has('not signed in') ? (beforeSignIn.get(state) ?? []) : [];
    if (!passes.includes(word) && !early.includes(word)) return answer;
  }
  return 200;
}

const answered = (question: Question) => {
  const decision = decide(question);
  return 'because' in decision ? statusOf[decision.because] : 200;
};

test('the page on who may do what names every action, every approach and every flag', () => {
  assert.deepEqual([...needs.keys()], [...actions]);
  assert.deepEqual(
    approaches,
    requests.filter((request) => !needs.has(request)).map((request) => wordOf[request]),
  );
  assert.deepEqual([...new Set([...needs.values()].flat())].sort(), [...flags].sort());
  const states404 = ['inactive', 'not begun', 'ended', 'address outside', 'not signed in', 'not in the audience', 'permission off'];
  assert.deepEqual(
    states.map(({ state }) => state),
    states404,
  );
});

test('a link answers as the page on who may do what says, for every flag in every state', () => {
  const wrong: object[] = [];
  let asked = 0;
  for (const it of everyCase()) {
    asked += 1;
    const [says, answers] = [expected(it), answered(it.question)];
    if (says !== answers && wrong.length < 5)
      wrong.push({ request: it.question.request, states: [...it.applies], flags: [...it.on], says, answers });
  }
  assert.deepEqual(wrong, []);
  assert.equal(asked, 2 * everyWindow.length * 3 * 3 * everyAudience.length * 128 * (requests.length + 1));
});

test('a link that does not exist answers 404 to every request', () => {
  const profile = { asksSignIn: false, ipRanges: '' };
  for (const request of requests)
    assert.equal(answered({ request, share: null, profile, visitor: { address: '::1', identity: null }, now }), 404);
});
