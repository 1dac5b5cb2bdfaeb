import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWindow } from '../parts/chromium.ts';
import { missingForDirectory, startDirectory } from '../parts/debian-directory.ts';
import { startPostern } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import { assertAccessible } from './console.ts';

const missing = missingForDirectory();
const options = { skip: missing === '' ? false : `not installed: ${missing}` };

for (const at of ['link', 'portal'] as const)
  test(`a visitor signs in on the page of a ${at} with the password of a directory`, options, async (t) => {
    const directory = await startDirectory(t);
    const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } });
    const configuration = JSON.stringify(directory.configuration);
    const profile = await postern.call('loginprofile/add', { title: 'Staff', typeId: 7, configuration });
    const share = await createShare(postern, { authenticationId: profile.id, title: 'Reports' });
    const { window } = await openWindow(t, { width: 390, dark: false });
    const page = await window.newPage();
    await page.goto(postern.publicUrl + (at === 'link' ? share.base : `/p/${profile.viewId}`));
    await page.getByLabel('User name').fill('ann');
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The user name or password is incorrect.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Forgot your password?' }).count(), 0);
    await page.getByLabel('Password').fill('ann-secret');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: at === 'link' ? 'Reports' : 'Staff' }).waitFor();
    await page.getByText('Ann Archer').first().waitFor();
    await assertAccessible(page, 'after the sign-in');
  });
