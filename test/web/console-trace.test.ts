import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { samplePdf } from '../parts/sample-documents.ts';
import { createUsersProfile, signIn } from '../start.ts';
import { createShare, sendPath } from '../visit/visiting.ts';
import { assertAccessible, openSignedInConsole, unexpectedErrors } from './console.ts';

test('an admin uploads a screenshot of a protected page, and reads who saw the page', async (t) => {
  const { postern, page, go, consoleErrors } = await openSignedInConsole(t);
  await writeFile(join(postern.files, 'paper.pdf'), await samplePdf());
  const profile = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: profile.id, copyProtect: true, title: 'Contracts' });
  const cookie = await signIn(postern, base, 'ann');
  const { bytes } = await sendPath(postern, `${base}/page/paper.pdf?number=1&width=1200`, { headers: { cookie } });

  await go('/activity');
  await page.getByRole('button', { name: 'Trace a leaked file' }).click();
  const dialog = page.getByRole('dialog');
  const trace = async (name: string, buffer: Buffer) => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), dialog.getByLabel('File').click()]);
    await chooser.setFiles({ name, mimeType: 'image/jpeg', buffer });
    await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/audit/trace'), { timeout: 60_000 }), // seconds of CPU, beside other tests
      dialog.getByRole('button', { name: 'Trace', exact: true }).click(),
    ]);
  };
  await trace(
    'plain.jpg',
    await sharp({ create: { width: 300, height: 300, channels: 3, background: '#fff' } })
      .jpeg()
      .toBuffer(),
  );
  await dialog.getByText('No trace mark found').waitFor();
  await trace('screenshot.jpg', await sharp(bytes).jpeg({ quality: 60 }).toBuffer());
  await dialog.getByText('ann from').waitFor();
  await dialog.getByText('/paper.pdf in Contracts').waitFor();
  await assertAccessible(page, 'with a traced file');
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});
