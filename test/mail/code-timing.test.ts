import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, startWithCodes } from './code-visitor.ts';

test('the time of a response does not show whether an e-mail address may sign in', async (t) => {
  const { postern, share } = await startWithCodes(t, { allow: ['*@known.example'] });
  const times = { known: [] as number[], unknown: [] as number[] };
  for (let index = 0; index < 2000; index += 1) {
    const which = Math.random() < 0.5 ? 'known' : 'unknown';
    const browser = new Browser(postern, `10.${index % 200}.${Math.floor(index / 200)}.1`);
    const start = performance.now();
    const { status } = await browser.request(share.base, `user-${index}@${which}.example`);
    if (index >= 200) times[which].push(performance.now() - start); // the first 200 requests are a warm-up
    assert.equal(status, 202);
  }
  let slowerCount = 0;
  for (const known of times.known) for (const unknown of times.unknown) slowerCount += known > unknown ? 1 : known === unknown ? 0.5 : 0;
  const area = slowerCount / (times.known.length * times.unknown.length);
  t.diagnostic(`area under the ROC curve ${area.toFixed(3)}`);
  assert.ok(Math.abs(area - 0.5) < 0.05, `area under the ROC curve ${area}`);
});
