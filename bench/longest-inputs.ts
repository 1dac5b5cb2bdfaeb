import { shareBody } from '../test/parts/share-body.ts';
import { certificateFile, certificatePassword } from '../test/parts/stored-certificate.ts';

/** A white JPEG of one pixel. */
const tracedFile =
  '/9j/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==';

// biome-ignore lint/suspicious/noExplicitAny: each operation has a different response, of which the callers read a few fields
type AnyResponse = any;

/** Calls an operation several times, and measures its cost. @returns its last successful response, if there is one */
export type Call = (operation: string, body: object | ((time: number) => object), what?: string) => Promise<AnyResponse>;

const longestText = 65_000; // characters: the longest fields of the REST API hold a little more
const rows = 1000; // the maximum number of users, ranges or ids in one call

/** Returns as many entries as fit into one field, separated by commas. */
function joinEntries(make: (index: number) => string, longest = longestText): string {
  const parts: string[] = [];
  for (let [index, length] = [0, 0]; ; index += 1) {
    const part = make(index);
    length += part.length + 1;
    if (length > longest) return parts.join(',');
    parts.push(part);
  }
}

const names = joinEntries((index) => `u${index.toString(36)}`);
const groups = joinEntries((index) => `g${index.toString(36)}`);
const addresses = joinEntries((index) => `a${index.toString(36)}@x.io`);
const ranges = Array.from({ length: rows }, (_, index) => `2001:db8:${index.toString(16)}::1-2001:db8:${index.toString(16)}::ffff`).join();
const nameList = names.split(',');
const users = (time: number, count = rows) =>
  Array.from({ length: count }, (_, index) => ({ username: `n${time}-${index}`, active: true, email: `n${time}-${index}@x.io` }));
const long = { userNames: names, groupNames: groups, notifyEmails: addresses, description: 'd'.repeat(3900) };

async function shares(call: Call, authId: number): Promise<number> {
  const newShare = await call('share/add', { ...shareBody, ...long, authenticationId: authId }, 'long lists');
  const { id } = newShare;
  const share = await call('share/get', { id }, 'long lists');
  await call('share/update', share, 'as it is');
  await call('share/update', (time) => ({ ...share, userNames: nameList.toReversed().slice(time).join(',') }), 'another list');
  await call('share/duplicate', { id, title: 'copy' });
  await call('share/updateSharableLink', { id });
  await call('share/explain', { id, username: 'u1', groupNames: groups.split(',').slice(0, rows).join(',') });
  await call('share/explain', { id, username: 'ß'.repeat(longestText) }, 'a long name');
  await call('share/activity', { id });
  const invitation = { id, emails: addresses.split(',').slice(0, 1000).join(','), message: 'm'.repeat(3900) };
  await call('share/invite', invitation);
  await call('share/previewInvitation', invitation);
  await call('mail/deliveries', { pageSize: '1000' });
  await call('mail/drop', { state: 'waiting' });
  await call('mail/retry', { state: 'failed' });
  await call('mail/test', { to: 'ann@example.com' });
  await call('share/unfinishedUploads', { id: 1 });
  await call('share/lastVisits', { ids: Array.from({ length: rows }, (_, index) => index + 1) });
  for (const search of [{}, { searchWord: 'a' }, { sortField: 'userNames' }, { pageSize: '1000' }])
    await call('share/search', search, JSON.stringify(search));
  return id;
}

async function profiles(call: Call, authId: number): Promise<void> {
  const newProfile = await call('loginprofile/add', { title: 'Ranges', ipRange: ranges }, 'long ranges');
  const { etag, ...profile } = await call('loginprofile/get', { id: newProfile.id }, 'long ranges');
  await call('loginprofile/update', (time) => ({ ...profile, ipRange: ranges.split(',').slice(time).join(',') }), 'other ranges');
  const { etag: version, ...usersProfile } = await call('loginprofile/get', { id: authId });
  const codes = { ...usersProfile, typeId: 4, configuration: '{"allow":[]}' };
  await call('loginprofile/update', (time) => (time % 2 === 0 ? codes : usersProfile), 'another type');
  await call('loginprofile/update', usersProfile);
  await call('loginprofile/duplicate', { id: newProfile.id, title: 'copy' });
  await call('loginprofile/updateViewId', { id: newProfile.id });
  await call('loginprofile/search', { pageSize: '1000' });
  await call('loginprofile/makeDefault', { id: 1 });
  await call('loginprofile/test', { id: newProfile.id }, 'of a kind without a test, refused');
  await call('loginprofile/testSignIn', { id: newProfile.id }, 'of a kind without a provider, refused');
  await call('loginprofile/delete', { id: newProfile.id });
}

async function accessUsers(call: Call, authId: number): Promise<void> {
  await call('accessuser/addMany', (time) => ({ authId, users: users(time) }), 'a thousand');
  await call(
    'accessuser/addMany',
    { authId, users: users(0).map((user) => ({ ...user, email: 'x' })) },
    'a thousand invalid rows, refused',
  );
  await call('accessuser/add', (time) => ({ authId, username: `one${time}`, active: true }));
  const { list } = await call('accessuser/search', { pageSize: '1000' });
  const [user] = list;
  await call('accessuser/get', { id: user.id });
  await call('accessuser/update', user);
  const password = { userPassword: 'wholly unguessable', confirmPassword: 'wholly unguessable' };
  await call('accessuser/updateUserPassword', { ...password, username: user.username, authId });
  await call('accessuser/delete', (time) => ({ id: list[time + 1].id }), 'listed');
  await call('accessuser/deleteByUsername', (time) => ({ username: list[time + 10].username, loginProfileId: authId }));
}

/** Calls the operations for an operator's own second factors. They refuse an API key. */
async function secondFactors(call: Call): Promise<void> {
  const currentPassword = 'p'.repeat(256);
  const credential = { id: 'A'.repeat(1400), response: { clientDataJSON: 'A'.repeat(2048), attestationObject: 'A'.repeat(8192) } };
  for (const [operation, body] of Object.entries({
    'operator/getSecondFactors': {},
    'operator/prepareTotp': {},
    'operator/addTotp': { secret: 'A'.repeat(32), code: '000000', currentPassword },
    'operator/preparePasskey': { currentPassword },
    'operator/addPasskey': { challengeToken: 's'.repeat(4096), credential },
    'operator/deleteSecondFactor': { id: 1, currentPassword },
    'operator/renewRecoveryCodes': { currentPassword },
  }))
    await call(operation, body, 'by a key, refused');
}

async function installation(call: Call): Promise<void> {
  const locations = await call('location/search', {});
  const local = locations.list[0];
  await call(
    'location/add',
    { name: 'z', kind: 'local', configuration: JSON.stringify({ folder: '/x'.repeat(30_000) }) },
    'a long path, refused',
  );
  const { kind, configuration } = local;
  const second = await call('location/add', (time) => ({ kind, configuration, name: `second${time}` }));
  await call('location/update', await call('location/get', { id: second.id }));
  await call('location/test', { id: second.id });
  await call('location/browse', { location: local.name, path: '/' });
  await call('location/delete', { id: second.id });
  const key = await call('apikey/add', (time) => ({ name: `key${time}`, role: 'reader' }));
  await call('apikey/search', {});
  await call('apikey/delete', { id: key.id });
  const secrets = { password: 'wholly unguessable', confirmPassword: 'wholly unguessable' };
  const operator = await call('operator/add', (time) => ({ name: `Olga ${time}`, role: 'reader', ...secrets }));
  await call('operator/search', {});
  await call('operator/update', { id: operator.id, name: 'Olga B.' });
  await call('operator/updatePassword', { id: operator.id, ...secrets });
  await call('operator/resetSecondFactors', { id: operator.id });
  await call('operator/unlinkProvider', { id: operator.id });
  await secondFactors(call);
  await call('operator/delete', { id: operator.id });
  for (const operation of ['caller/get', 'overview/get', 'tenant/getPolicy', 'tenant/search', 'audit/export']) await call(operation, {});
  await call('tenant/add', (time) => ({ title: `Tenant ${time}` }));
  await call('signature/update', { certificate: certificateFile, password: certificatePassword, timestampUrl: null });
  for (const operation of ['signature/get', 'signature/test', 'signature/delete']) await call(operation, {});
  await call('tenant/updatePolicy', { longestValidityDays: null, signInRequired: false });
  await call('audit/search', { pageSize: '1000' });
  await call('audit/trace', { file: tracedFile });
}

/** Calls each operation. Those that accept long inputs get the longest, and some also get inputs that they refuse. */
export async function callWithLongestInputs(call: Call): Promise<void> {
  const { id: authId } = await call('loginprofile/add', { title: 'Users', typeId: 3 });
  for (let from = 0; from < nameList.length; from += rows) {
    const page = nameList.slice(from, from + rows).map((username) => ({ username, active: true, email: `${username}@x.io` }));
    await call('accessuser/addMany', { authId, users: page }, 'new ones');
  }
  const id = await shares(call, authId);
  const manyNames = Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`k${index}`, 1]));
  for (const operation of ['share/update', 'accessuser/addMany']) {
    await call(operation, manyNames, 'unknown names, refused');
    await call(operation, { ids: Array.from({ length: 150_000 }, () => 1), title: 'x'.repeat(400_000) }, 'long values, refused');
  }
  await profiles(call, authId);
  await accessUsers(call, authId);
  await installation(call);
  await call('share/delete', { id });
}
