import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { allMessages } from '#core/translations/all-messages.ts';
import { languages } from '#core/translations/languages.ts';
import { openWindow } from '../parts/chromium.ts';
import { newShare, startPostern } from '../start.ts';

test('the page of a link, also of an unknown one, is shown in every supported language, with the right text direction', async (t) => {
  const postern = await startPostern(t);
  const share = await postern.call('share/add', newShare());
  for (const language of languages) {
    const messages = allMessages[language];
    const { window, consoleErrors } = await openWindow(t, { width: 390, dark: false, locale: language });
    const page = await window.newPage();
    await page.goto(share.viewUrl);
    await page.getByPlaceholder(messages.searchHere).waitFor();
    const html = page.locator('html');
    assert.deepEqual([await html.getAttribute('lang'), await html.getAttribute('dir')], [language, language === 'ar' ? 'rtl' : 'ltr']);
    const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
    assert.deepEqual(violations, [], language);
    assert.deepEqual(consoleErrors, []);
    await page.goto(`${postern.publicUrl}/s/nothing-of-the-kind`);
    await page.getByRole('heading', { name: messages.linkUnknown }).waitFor();
    await page.getByText(messages.linkUnknownNext).waitFor();
    await window.close();
  }
});

test('the language of the login profile takes precedence over the language of the browser', async (t) => {
  const postern = await startPostern(t);
  const profile = await postern.call('loginprofile/add', { title: 'Clients', typeId: 1, lang: 'fr' });
  const share = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const { window } = await openWindow(t, { width: 390, dark: false, locale: 'de' });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByPlaceholder(allMessages.fr.searchHere).waitFor();
});
