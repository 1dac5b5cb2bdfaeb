import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'ldapts';
import { DirectoryRefused } from '#ports/directory.ts';
import { groupsOf } from './directory-groups.ts';

test('if Active Directory returns only a part of the groups of a user, the user is refused, not signed in without groups', async () => {
  const client = new Client({ url: 'ldap://127.0.0.1' }); // is not used: the entry contains the groups
  const configuration = { url: 'ldaps://directory.example.com', baseDn: 'DC=example,DC=com' };
  const groups = Array.from({ length: 1500 }, (_, index) => `CN=group ${index},DC=example,DC=com`);
  const entry = { dn: 'CN=ann,DC=example,DC=com', memberOf: [], 'memberOf;range=0-1499': groups };
  await assert.rejects(
    groupsOf(client, configuration, entry, 'ann'),
    (cause) => cause instanceof DirectoryRefused && /groups/.test(cause.message),
  );
  const small = { dn: entry.dn, memberOf: groups.slice(0, 2) };
  assert.deepEqual(await groupsOf(client, configuration, small, 'ann'), groups.slice(0, 2));
});
