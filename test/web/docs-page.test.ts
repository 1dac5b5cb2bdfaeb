import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWindow } from '../parts/chromium.ts';
import { startPostern } from '../start.ts';

test('the API reference page calls no other server, and shows no links or buttons to services of Scalar', async (t) => {
  const postern = await startPostern(t);
  const { window } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  const requestedHosts: string[] = [];
  page.on('request', (request) => requestedHosts.push(new URL(request.url()).host));
  page.setDefaultTimeout(60_000); // its script takes seconds of CPU, and other tests run at the same time
  await page.goto(`${postern.apiUrl}/docs`);
  await page.getByRole('heading', { name: 'Postern' }).first().waitFor();
  await page.getByRole('heading', { name: 'login' }).first().waitFor();
  assert.deepEqual([...new Set(requestedHosts)], [new URL(postern.apiUrl).host]);
  for (const vendorText of [/scalar/i, /open api client/i, /ask ai/i, /generate mcp/i, /powered by/i, /developer tools/i])
    assert.equal(await page.locator('a:visible, button:visible').filter({ hasText: vendorText }).count(), 0, String(vendorText));
  assert.equal(await page.locator('a[href*="scalar.com"]:visible').count(), 0);
});
