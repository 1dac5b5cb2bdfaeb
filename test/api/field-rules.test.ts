import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUsersProfile, type Json, newShare, startPostern } from '../start.ts';
import { fieldErrorAt, fieldErrorsOf } from './field-errors.ts';

test('a date, or a time with any ISO 8601 offset, is accepted and returned in UTC with milliseconds; an end date includes its day', async (t) => {
  const postern = await startPostern(t);
  for (const [input, output] of [
    ['2026-01-31T09:00:00Z', '2026-01-31T09:00:00.000Z'],
    ['2026-01-31T09:00:00.5+02:00', '2026-01-31T07:00:00.500Z'],
    ['2026-01-31T09:00:00-05:30', '2026-01-31T14:30:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ]) {
    const { id } = await postern.call('share/add', newShare({ validityStartDate: input }));
    assert.equal((await postern.call('share/get', { id })).validityStartDate, output);
  }
  const { id } = await postern.call('share/add', newShare({ validityEndDate: '2026-12-31' }));
  assert.equal((await postern.call('share/get', { id })).validityEndDate, '2027-01-01T00:00:00.000Z');
});

test('a date or time that does not exist or has another format is refused', async (t) => {
  const postern = await startPostern(t);
  for (const date of [
    '2026-02-29',
    '2026-02-30T00:00:00Z',
    '2026-04-31',
    '2026-00-10',
    '2026-01-01T24:30:00Z',
    '2026-01-01T00:60:00Z',
    '01.02.2026',
    'tomorrow',
    '2026-01-01T00:00:00+25:00',
  ])
    for (const field of ['validityStartDate', 'validityEndDate'])
      assert.deepEqual(fieldErrorsOf(await postern.send('share/add', newShare({ [field]: date }))), [field], date);
});

test('an end date that is not after the start date is refused, but an end date in the past is accepted', async (t) => {
  const postern = await startPostern(t);
  const at = '2026-01-31T09:00:00Z';
  assert.deepEqual(fieldErrorsOf(await postern.send('share/add', newShare({ validityStartDate: at, validityEndDate: at }))), [
    'validityEndDate',
  ]);
  const { id } = await postern.call('share/add', newShare({ validityStartDate: '2020-01-01', validityEndDate: '2020-01-01' }));
  const share = await postern.call('share/get', { id });
  assert.equal((await postern.send('share/update', { ...share, validityStartDate: '2020-02-01', validityEndDate: undefined })).status, 400);
});

for (const [field, maxLength] of [
  ['title', 255],
  ['description', 4000],
  ['startupMessage', 4000],
  ['waterMarkText', 4000],
  ['digitalSignReason', 4000],
] as const)
  test(`the ${field} of a share may have at most ${maxLength} characters`, async (t) => {
    const postern = await startPostern(t);
    await postern.call('share/add', newShare({ [field]: 'ä'.repeat(maxLength) }));
    await postern.call('share/add', newShare({ [field]: '😀'.repeat(maxLength) }));
    assert.deepEqual(fieldErrorsOf(await postern.send('share/add', newShare({ [field]: 'x'.repeat(maxLength + 1) }))), [field]);
  });

test('other text fields have their documented maximum lengths', async (t) => {
  const postern = await startPostern(t);
  const user = (over: object) => postern.send('accessuser/add', { username: 'ann', active: true, ...over });
  for (const [field, value] of [
    ['username', 'x'.repeat(256)],
    ['firstName', 'x'.repeat(256)],
    ['lastName', 'x'.repeat(256)],
    ['email', `${'x'.repeat(249)}@a.de`.padEnd(255, 'e')],
  ] as const) {
    assert.deepEqual(fieldErrorsOf(await user({ [field]: value })), [field]);
    assert.equal(
      (await user({ username: `ok ${field}`.replace(' ', ''), [field]: value.slice(field === 'email' ? 1 : 0, 255) })).status,
      200,
      field,
    );
  }
  for (const [field, value] of [
    ['title', 'x'.repeat(256)],
    ['description', 'x'.repeat(4001)],
    ['configuration', `{"a":"${'x'.repeat(65_536)}"}`],
  ] as const)
    assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/add', { [field]: value })), [field]);
});

test('a required text must not be empty, but userNames may be empty', async (t) => {
  const postern = await startPostern(t);
  for (const field of ['title', 'location', 'path'])
    assert.deepEqual(fieldErrorsOf(await postern.send('share/add', newShare({ [field]: '' }))), [field]);
  assert.deepEqual(fieldErrorsOf(await postern.send('accessuser/add', { username: '', active: true })), ['username']);
  assert.deepEqual(fieldErrorsOf(await postern.send('apikey/add', { name: '', role: 'reader' })), ['name']);
  assert.equal((await postern.send('share/add', newShare({ userNames: '' }))).status, 200);
});

test('control characters and lone surrogates are refused, except line breaks in free text', async (t) => {
  const postern = await startPostern(t);
  for (const [field, value] of [
    ['title', 'a\nb'],
    ['title', 'a\u0000b'],
    ['title', 'a\u007fb'],
    ['description', 'a\u0007b'],
    ['waterMarkText', 'a\u0085b'],
    ['title', '\ud800'],
  ] as const)
    assert.deepEqual(fieldErrorsOf(await postern.send('share/add', newShare({ [field]: value }))), [field]);
  const { id } = await postern.call('share/add', newShare({ description: 'a\r\nb\nc' }));
  assert.equal((await postern.call('share/get', { id })).description, 'a\r\nb\nc');
});

test('text is stored in Unicode NFC', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare({ title: 'A\u0308rger' }));
  assert.equal((await postern.call('share/get', { id })).title, '\u00c4rger');
  await postern.call('accessuser/add', { username: 'ju\u0308rgen', active: true });
  assert.equal((await postern.send('accessuser/add', { username: 'J\u00dcRGEN', active: true })).status, 409);
});

test('a username has no comma or colon, and is unique within its login profile regardless of case', async (t) => {
  const postern = await startPostern(t);
  for (const username of ['a,b', 'a:b'])
    assert.deepEqual(fieldErrorsOf(await postern.send('accessuser/add', { username, active: true })), ['username']);
  const { id } = await postern.call('loginprofile/add', {});
  await postern.call('accessuser/add', { username: 'Ann', active: true, authId: id });
  assert.equal((await postern.send('accessuser/add', { username: 'aNN', active: true, authId: id })).status, 409);
  assert.equal((await postern.send('accessuser/add', { username: 'aNN', active: true })).status, 200);
});

test('a user without authId joins the default login profile; another message is returned if this profile does not use access users', async (t) => {
  const postern = await startPostern(t);
  const withoutSignIn = await postern.call('accessuser/add', { username: 'ann', active: true });
  const { id } = await postern.call('loginprofile/add', { title: 'Clients' });
  await postern.call('loginprofile/makeDefault', { id });
  const withSignIn = await postern.call('accessuser/add', { username: 'ann', active: true });
  assert.notEqual(withoutSignIn.message, withSignIn.message);
  assert.deepEqual(
    (await postern.call('accessuser/search')).list.map(({ authId }: Json) => authId),
    [1, id],
  );
});

for (const range of [
  '10.0.0.0/33',
  '010.0.0.1',
  '10.0.0.256',
  '10.0.0.9-10.0.0.1',
  '::1/129',
  'localhost',
  '10.0.0',
  '10.0.0.1-::1',
  '1.2.3.4/',
  'fe80::1%eth0',
  '10.0.0.1;10.0.0.2',
  '0x7f.1.1.1',
  '1.2.3.4/08',
])
  test(`the ipRange ${range} is refused`, async (t) => {
    const postern = await startPostern(t);
    assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/add', { ipRange: range })), ['ipRange']);
  });

test('an ipRange has at most 1000 entries, because requests at a link check it', async (t) => {
  const postern = await startPostern(t);
  const ranges = (count: number) => Array.from({ length: count }, (_, index) => `10.0.${index >> 8}.${index & 255}`).join(', ');
  await postern.call('loginprofile/add', { ipRange: ranges(1000) });
  for (const list of [ranges(1001), '::,'.repeat(1001)]) {
    const refusal = await postern.send('loginprofile/add', { ipRange: list });
    assert.deepEqual(fieldErrorsOf(refusal), ['ipRange']);
    assert.match(refusal.body.detail, /at most 1000 entries/);
  }
});

test('an ipRange accepts addresses, CIDR blocks and ranges, separated by commas or white space', async (t) => {
  const postern = await startPostern(t);
  await postern.call('loginprofile/add', {
    ipRange: '192.0.2.7/24, 10.0.0.1-10.0.0.9\n2001:db8::/32 ::ffff:192.0.2.1,2001:db8::1-2001:db8::ff',
  });
});

test('entries of a list are trimmed and duplicates are removed; a quoted entry may contain a comma', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call(
    'share/add',
    newShare({ groupNames: ' staff ,"Sales, EU", staff,"the ""A"" team"', notifyEmails: ' a@example.com ,a@example.com,' }),
  );
  const { groupNames, notifyEmails } = await postern.call('share/get', { id });
  assert.deepEqual(groupNames.split(/, ?(?=(?:[^"]*"[^"]*")*[^"]*$)/), ['staff', '"Sales, EU"', '"the ""A"" team"']);
  assert.equal(notifyEmails, 'a@example.com');
  assert.deepEqual(fieldErrorsOf(await postern.send('share/add', newShare({ groupNames: '"open' }))), ['groupNames']);
  assert.deepEqual(fieldErrorsOf(await postern.send('share/add', newShare({ notifyEmails: 'a@example.com,not an address' }))), [
    'notifyEmails',
  ]);
});

test('a share with a USERS profile accepts only users of that profile', async (t) => {
  const postern = await startPostern(t);
  const [one, two] = [await createUsersProfile(postern, ['ann']), await createUsersProfile(postern, ['bob'])];
  assert.deepEqual(
    fieldErrorsOf(await postern.send('share/add', newShare({ authenticationId: one.id, allowAllUsers: false, userNames: 'ann,bob' }))),
    ['userNames'],
  );
  const { id } = await postern.call('share/add', newShare({ authenticationId: one.id, allowAllUsers: false, userNames: 'ANN' }));
  const share = await postern.call('share/get', { id });
  assert.equal(share.allowedLogins, 1);
  const { userNames: _u, groupNames: _g, ...rest } = share;
  assert.equal((await postern.send('share/update', { ...rest, authenticationId: two.id })).status, 400);
  assert.equal((await postern.send('share/update', { ...rest, authenticationId: two.id, userNames: 'bob', groupNames: '' })).status, 200);
});

test('the error of an invalid field describes the valid values in words, not as a pattern', async (t) => {
  const postern = await startPostern(t);
  const user = await postern.send('accessuser/add', { username: 'a,b', active: true, email: 'no address' });
  assert.equal(
    fieldErrorAt(user, 'username'),
    'must not contain commas, colons or control characters, and must not begin or end with a space',
  );
  assert.equal(fieldErrorAt(user, 'email'), 'must be an e-mail address such as ann@example.com');
  const profile = await postern.send('loginprofile/add', { typeId: 2, password: 'short', lang: 'xx', ipRange: '10.0.0.0/99' });
  assert.deepEqual(fieldErrorsOf(profile), ['ipRange', 'lang', 'password']);
  const location = await postern.send('location/add', { name: 'x', kind: 'local', configuration: '{"folder":"relative"}' });
  assert.match(fieldErrorAt(location, 'configuration'), /^folder must be an absolute path/);
  for (const answer of [user, profile, location]) assert.doesNotMatch(JSON.stringify(answer.body), /\\p\{|\[\^|must match/);
});

test('an unknown field gets a suggestion only if its name is similar to a known field', async (t) => {
  const postern = await startPostern(t);
  const detail = async (name: string) => fieldErrorAt(await postern.send('share/get', { id: 1, [name]: 1 }), name);
  assert.equal(
    fieldErrorAt(await postern.send('accessuser/add', { username: 'ann', activ: true }), 'activ'),
    'is not a known field; did you mean active?',
  );
  assert.equal(await detail('x'), 'is not a known field');
  assert.equal(await detail('kN'), 'is not a known field');
});
