import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wellFormedTag } from '#core/translations/languages.ts';
import { permissionPresets } from '../../web/console/shares/permissions.ts';
import { stateOf } from '../../web/console/shares/share-state.ts';
import { type SummaryParts, shareSummary } from '../../web/console/shares/share-summary.ts';

const clients = { title: 'Clients', typeId: 3 };
const summary = (over: Partial<SummaryParts>): string =>
  shareSummary({
    ...permissionPresets.download.can,
    active: true,
    path: '/reports',
    allowAllUsers: false,
    users: [],
    groups: [],
    profile: clients,
    isProtected: false,
    ended: false,
    from: null,
    until: null,
    ...over,
  });

test('the summary sentence of a share states who can do what, and when', () => {
  assert.equal(
    summary({ users: ['Ann', 'Bob'], until: 'until 31 March 2027' }),
    'Ann and Bob, signed in with Clients, can view and download /reports until 31 March 2027.',
  );
  assert.equal(
    summary({ allowAllUsers: true, from: '1 May 2027', until: 'until 31 May 2027', ...permissionPresets.dropBox.can }),
    'Everyone who signs in with Clients can upload files to /reports from 1 May 2027 until 31 May 2027.',
  );
  assert.equal(
    summary({ users: ['Ann', 'Bob', 'Carla', 'Dora'], groups: ['Finance'] }),
    'Ann, Bob, and 3 more, signed in with Clients, can view and download /reports.',
  );
  assert.equal(
    summary({ users: ['Ann'], ...permissionPresets.collaborate.can }),
    'Ann, signed in with Clients, can view, download, upload, rename, and delete files and create folders in /reports.',
  );
});

test('if nobody can open the share or do anything there, the summary sentence states this', () => {
  assert.equal(summary({}), 'Nobody can open /reports yet. Choose who gets access.');
  assert.equal(summary({ allowAllUsers: true, active: false }), 'The link to /reports is inactive. Nobody can open it.');
  assert.equal(
    summary({ users: ['Ann'], profile: { title: 'Anyone', typeId: 1 } }),
    'Nobody can open /reports yet. Choose who gets access.',
  );
  const noPermissions = { canView: false, canDownload: false, canDownloadFolder: false };
  assert.equal(
    summary({ allowAllUsers: true, ...noPermissions }),
    'Everyone who signs in with Clients can open the link to /reports, but cannot do anything there.',
  );
});

test('the summary sentence states what limits access: protected files, or expiry', () => {
  const everyone = { allowAllUsers: true };
  assert.match(
    summary({ ...everyone, isProtected: true }),
    /\/reports\. Only PDF files, images and the pages of Office documents can be opened, all with a mark\.$/,
  );
  assert.equal(
    summary({ ...everyone, until: 'until 31 March 2026', ended: true }),
    'The link to /reports was valid until 31 March 2026. Nobody can open it now.',
  );
});

test('the state of a share follows from its active flag and its start and end dates', () => {
  const at = Date.parse('2026-06-01T00:00:00Z');
  const share = { active: true, validityStartDate: null, validityEndDate: null };
  assert.equal(stateOf(share, at), 'active');
  assert.equal(stateOf({ ...share, validityStartDate: '2026-06-01T00:00:00.001Z' }, at), 'scheduled');
  assert.equal(stateOf({ ...share, validityEndDate: '2026-06-01T00:00:00.000Z' }, at), 'ended');
  assert.equal(stateOf({ ...share, active: false, validityEndDate: '2026-01-01T00:00:00.000Z' }, at), 'inactive');
});

test('a malformed browser language is skipped: the next valid one is used, or else English', () => {
  assert.equal(wellFormedTag(['en-US@posix', 'de-AT']), 'de-AT');
  assert.equal(wellFormedTag(['en-US@posix']), 'en');
});
