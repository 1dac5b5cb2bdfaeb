import { test } from 'node:test';
import { checkInterruptedUpload } from '../web/interrupted-upload.ts';

const gibibyte = 2 ** 30;

// The short form of this test is in test/web/visitor-resumed-uploads.test.ts.
if (process.env['POSTERN_FAULTS'] === 'long')
  test('an upload of 2 GiB over a connection that is cut ten times is stored once and complete', (t) =>
    checkInterruptedUpload(t, 2 * gibibyte, 10));
