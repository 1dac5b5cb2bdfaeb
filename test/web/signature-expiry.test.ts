import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expiryWarning } from '../../web/console/settings/signature-expiry.ts';

const now = Date.parse('2026-11-30T12:00:00Z');
const warningIn = (days: number) => expiryWarning(new Date(now + days * 86_400_000).toISOString(), now);

test('the console warns of the end of the certificate for signatures in its last 30 days, and after it', () => {
  assert.deepEqual([-1, 0.5, 1.5, 30, 31.5].map(warningIn), [
    'The certificate for signatures has expired',
    'The certificate for signatures expires within 24 hours',
    'The certificate for signatures expires in 1 day',
    'The certificate for signatures expires in 30 days',
    null,
  ]);
  assert.equal(expiryWarning(null, now), null);
});
