import assert from 'node:assert/strict';
import { test } from 'node:test';
import { looseName } from './loose-name.ts';

const spellings: readonly (readonly [string, string])[] = [
  ['ann', 'ANN'],
  ['ann', 'ａｎｎ'],
  ['ann', '𝐚𝐧𝐧'],
  ['ann', 'ánn'],
  ['ann', 'a\u00adnn'],
  ['jo hn', 'jo   hn'],
  ['strasse', 'straße'],
  ['aeroe', 'ærøe'],
  ['office', 'oﬃce'],
  ['σοφος', 'ΣΟΦΟΣ'],
  ['かな', 'カナ'],
  ['がな', 'ｶﾞﾅ'],
  ['iv', 'Ⅳ'],
];
for (const [one, other] of spellings)
  test(`a directory may treat ${JSON.stringify(one)} and ${JSON.stringify(other)} as the same name`, () => {
    assert.equal(looseName(one), looseName(other));
  });

test('names that differ in a base letter, a digit, a dot or an underscore stay different', () => {
  const names = ['ann', 'anna', 'ann.archer', 'ann_archer', 'anh', 'ann2', 'анна', '山田'];
  assert.equal(new Set(names.map(looseName)).size, names.length);
});
