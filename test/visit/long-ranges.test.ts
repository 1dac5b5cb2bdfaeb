import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateConditions } from '../../src/http/conditional-request.ts';
import { growthFactor } from '../parts/growth.ts';

test('the time to parse a long Range header grows in proportion to its length', () => {
  const validators = { size: 1000, etag: '"a"', modified: 0 };
  for (const text of ['1', ' ', '1-'])
    assert.ok(growthFactor((size) => evaluateConditions('GET', { range: `bytes=${text.repeat(size)}` }, validators), 32_768) < 24, text);
});
