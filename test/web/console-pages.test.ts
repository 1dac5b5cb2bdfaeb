import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createUsersProfile, newShare } from '../start.ts';
import { assertAccessible, openSignedInConsole, unexpectedErrors } from './console.ts';

// Layout depends only on the width, and contrast only on light or dark, so two combinations cover all four values.
for (const viewport of [
  { width: 390, dark: false },
  { width: 1440, dark: true },
])
  test(`at ${viewport.width} px, axe finds no problem on the console pages that this test opens, and none of them is wider than the window, logs an error or calls another host`, async (t) => {
    const { postern, page, consoleErrors, hosts, navigate } = await openSignedInConsole(t, viewport);
    await mkdir(join(postern.files, 'reports'));
    const profile = await createUsersProfile(postern, ['ann', 'bob']);
    const { id } = await postern.call(
      'share/add',
      newShare({ path: '/reports', authenticationId: profile.id, validityEndDate: '2100-01-01' }),
    );
    const pages: Record<string, string> = {
      '': 'Expiring soon',
      '/shares': 'end of',
      '/shares/new': 'Choose the file or folder to share',
      [`/shares/${id}`]: 'Nobody has opened this share',
      '/users': 'bob',
      '/users/new': 'Needed only for a login profile',
      '/users/import': 'Choose a file, or paste',
      [`/users/${profile.users['ann']}`]: 'Inactive users',
      '/profiles': 'Clients',
      [`/profiles/${profile.id}`]: 'Portal',
      '/profiles/new': 'Allowed IP addresses',
      '/locations': 'local',
      '/locations/new': 'Where files are stored',
      '/locations/1': 'Location test',
      '/activity': 'Added a share',
      '/settings/keys': 'environment',
      '/settings/operators': 'Olga',
      '/settings/mail': 'No mail server is configured',
      '/settings/policy': 'Visitors must sign in',
      '/settings/account': 'Current password',
      '/nowhere': 'Page not found',
      '/shares/999': 'This record does not exist',
    };
    for (const [path, expectedText] of Object.entries(pages)) {
      await navigate(path);
      await page.getByText(expectedText).first().waitFor();
      await assertAccessible(page, path);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      assert.equal(overflow, 0, `${path} is wider than the window`);
    }
    assert.deepEqual(
      unexpectedErrors(consoleErrors).filter((text) => !/status of 404/.test(text)),
      [],
    );
    assert.deepEqual([...hosts], [new URL(postern.apiUrl).host]);
  });
