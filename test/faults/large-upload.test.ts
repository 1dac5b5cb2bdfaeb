import { test } from 'node:test';
import { uploadOverCutLine } from '../web/cut-upload.ts';

const gibibyte = 2 ** 30;

// The short form is in test/web/visitor-resumed-uploads.test.ts.
if (process.env['POSTERN_FAULTS'] === 'long')
  test('an upload of 2 GiB over a line that is cut ten times arrives once and whole', (t) => uploadOverCutLine(t, 2 * gibibyte, 10));
