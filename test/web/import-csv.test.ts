import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activeIn, guessMapping, rowsOf, withColumn } from '../../web/console/users/import-columns.ts';
import { type CsvTable, decodeText, readCsv } from '../../web/console/users/read-csv.ts';
import { writeCsv } from '../../web/console/users/write-csv.ts';

function tableOf(text: string): CsvTable {
  const result = readCsv(text);
  assert.ok('table' in result, text);
  return result.table;
}
const read = (text: string) => {
  const table = tableOf(text);
  return rowsOf(table, guessMapping(table.headings));
};
const bytesOf = (text: string, encoding: BufferEncoding) => Uint8Array.from(Buffer.from(text, encoding)).buffer;

test('a CSV file can have semicolons, quotes, CRLF or LF line endings, and columns in any order; rows keep their line number', () => {
  const rows = read('\ufeffE-mail;"User name"\r\n"a@example.com";"ann"\r\n\r\n"b@\nexample.com";bob\n');
  assert.deepEqual(
    rows.map(({ cells }) => cells),
    [
      { email: 'a@example.com', username: 'ann' },
      { email: 'b@\nexample.com', username: 'bob' },
    ],
  );
  assert.equal(rows[0]?.line, 2);
});

test('empty lines before the headings do not hide which character separates the columns', () => {
  assert.deepEqual(tableOf('\ufeff\r\n \r\nuser name;e-mail\r\nann;a@example.com').headings, ['user name', 'e-mail']);
});

test('semicolons separate the columns if commas occur only within quotes', () => {
  assert.deepEqual(tableOf('"Name, last";"Name, first, or none";login\n"Lee, jr.";Ann;ann').headings, [
    'Name, last',
    'Name, first, or none',
    'login',
  ]);
});

test('a CSV file in Windows-1252, UTF-8 or UTF-16 keeps its letters', () => {
  const text = 'username;Nachname\r\njosé;Müller-Łoś';
  assert.equal(decodeText(bytesOf(text, 'utf8')), text);
  assert.equal(decodeText(bytesOf(`\ufeff${text}`, 'utf16le')), text);
  const western = Uint8Array.from([...Buffer.from('user'), 0x80, 0xe9, 0x92]).buffer;
  assert.equal(decodeText(western), 'user€é’');
});

test('headings that other systems export are recognized, and each field gets at most one column', () => {
  assert.deepEqual(guessMapping(['sAMAccountName', 'Given Name', 'SURNAME', 'E-Mail', 'Department', 'Prénom', 'enabled']), [
    'username',
    'firstName',
    'lastName',
    'email',
    null,
    null,
    'active',
  ]);
});

test('assigning a field to another column removes it from the previous column', () => {
  assert.deepEqual(withColumn(['username', null, 'email'], 1, 'username'), [null, 'username', 'email']);
  assert.deepEqual(withColumn(['username', null, 'email'], 2, null), ['username', null, null]);
});

test('the active column accepts digits and words of several languages, and an unknown word gets no value', () => {
  assert.deepEqual(['', 'TRUE', 'Ja', 'Vero', 'falsch', 'FALSO', '0', 'perhaps'].map(activeIn), [
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    null,
  ]);
});

test('a text that is not valid CSV is refused with the reason', () => {
  const result = readCsv('"never closed');
  assert.ok('error' in result && /quote/i.test(result.error));
});

test('an exported value that looks like a formula is written as text', () => {
  const user = { username: 'carla', firstName: '=1+1', lastName: 'Diaz; "C"', email: '', active: false };
  assert.equal(writeCsv([user]), 'username,firstName,lastName,email,active\r\ncarla,\'=1+1,"Diaz; ""C""",,false');
});

test('an exported CSV file can be imported again', () => {
  const user = { username: 'ann', firstName: 'Ann "A"', lastName: 'Lee, jr.', email: 'ann@example.com', active: true };
  assert.deepEqual(read(writeCsv([user]))[0]?.cells, { ...user, active: 'true' });
});
