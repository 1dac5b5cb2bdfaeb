import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCsvRows } from '../../web/visitor/preview/csv-rows.ts';

test('a table is read with commas, semicolons or tabs, with quoted cells and empty lines', () => {
  for (const separator of [',', ';', '\t']) {
    const text = `name${separator}note\r\n"Lee${separator} Ann"${separator}"two\nlines"\r\n\r\nBob${separator}`;
    assert.deepEqual(readCsvRows(text, false), {
      rows: [
        ['name', 'note'],
        [`Lee${separator} Ann`, 'two\nlines'],
        ['Bob', ''],
      ],
      isCut: false,
    });
  }
});

test('the headings and the first thousand rows of a long table are read, and only the complete rows of a cut table', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `${index},x`).join('\n');
  assert.equal(readCsvRows(lines(1001), false)?.isCut, false);
  const long = readCsvRows(lines(5000), false);
  assert.deepEqual([long?.rows.length, long?.isCut], [1001, true]);
  assert.deepEqual(readCsvRows('a,b\n1,2\n3,"unfini', true), {
    rows: [
      ['a', 'b'],
      ['1', '2'],
    ],
    isCut: true,
  });
});

test('a text that is no table is not shown as one', () => {
  for (const text of ['', 'words without a separator\nand more', '\n\n']) assert.equal(readCsvRows(text, false), null);
});
