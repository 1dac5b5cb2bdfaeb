import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatItemPath,
  joinPaths,
  mostLevels,
  nameError,
  numberedName,
  parseEncodedPath,
  parseItemPath,
  parseSegments,
  parseStoredPath,
  rootPath,
  splitPath,
} from './item-path.ts';

const bytes = (text: string) => new TextEncoder().encode(text).length;
const forbidden = [
  '.',
  '..',
  '',
  '.postern',
  '.POSTERN',
  '.Postern-upload',
  '.postern-',
  'a/b',
  'a\\b',
  'a\0',
  'a\nb',
  '\x7f',
  '\x85',
  '\ud800',
];

for (const name of forbidden) {
  test(`a name that would escape or is kept is refused: ${JSON.stringify(name)}`, () => {
    assert.notEqual(nameError(name), null);
    assert.equal(parseSegments(['a', name, 'b']), null);
  });
  test(`it is refused percent-encoded too: ${JSON.stringify(name)}`, () => {
    if (!name.isWellFormed()) return;
    const hidden = [...new TextEncoder().encode(name)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    assert.equal(parseEncodedPath(`a/${hidden}/b`), null);
  });
}

for (const name of [
  '...',
  '.hidden',
  '.git',
  '.posternix',
  'postern',
  'a.postern',
  ' ',
  'con',
  'a:b',
  'ü',
  'u\u0308',
  '😀',
  '%2e%2e',
  '~',
  '*',
  '-rf',
])
  test(`any other name is a name: ${name}`, () => assert.equal(nameError(name), null));

test('letters that a disk may take for the same do not get round the kept names', () => {
  for (const name of ['．postern', '.ｐｏｓｔｅｒｎ', '.poſtern', '.POſTERN-x']) assert.notEqual(nameError(name), null);
});

test('a name is at most 255 bytes long, counted in UTF-8', () => {
  assert.equal(nameError('a'.repeat(255)), null);
  assert.notEqual(nameError('a'.repeat(256)), null);
  assert.equal(nameError('é'.repeat(127)), null);
  assert.notEqual(nameError('é'.repeat(128)), null);
});

test('the root is written / or not at all', () => {
  for (const text of ['', '/']) assert.deepEqual(parseItemPath(text), []);
  assert.deepEqual(parseEncodedPath(''), []);
  // In an address the slash stands between segments: a further one is an empty segment.
  assert.equal(parseEncodedPath('/'), null);
  assert.equal(formatItemPath(rootPath), '/');
  assert.equal(splitPath(rootPath), null);
});

test('a slash may lead a plain path, and one may follow any', () => {
  for (const text of ['a/b', '/a/b', 'a/b/', '/a/b/']) assert.deepEqual(parseItemPath(text), ['a', 'b']);
  assert.deepEqual(parseEncodedPath('a/b/'), ['a', 'b']);
});

for (const text of ['a//b', '//a', 'a//', '/../a', 'a/..', 'a/./b', '..'])
  test(`a path with an empty or climbing segment is refused: ${text}`, () => {
    assert.equal(parseItemPath(text), null);
    assert.equal(parseEncodedPath(text), null);
  });

test('an address is decoded once and no more', () => {
  assert.deepEqual(parseEncodedPath('a%20b/%25'), ['a b', '%']);
  assert.deepEqual(parseEncodedPath('%252e%252e'), ['%2e%2e']);
  assert.deepEqual(parseEncodedPath('a+b'), ['a+b']);
});

test('a plain path is never percent-decoded', () => assert.deepEqual(parseItemPath('%2e%2e/a%20b'), ['%2e%2e', 'a%20b']));

for (const text of ['%', '%zz', '%ff', '%c3', '%c0%ae', '%ed%a0%80', 'a/%e4'])
  test(`what is not percent-encoded UTF-8 is refused: ${text}`, () => assert.equal(parseEncodedPath(text), null));

const anyName = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((name) => nameError(name) === null);
const anyText = fc.string({
  unit: fc.constantFrom('.', '..', '/', '\\', 'a', '%2e', '%2F', '%5c', '%00', '.postern', 'é', ' '),
  maxLength: 8,
});

test('every name that is a name can be reached by its address, byte for byte', () =>
  fc.assert(
    fc.property(fc.array(anyName, { maxLength: 4 }), (names) => {
      assert.deepEqual(parseEncodedPath(names.map(encodeURIComponent).join('/')), names);
      assert.deepEqual(parseItemPath(`/${names.join('/')}`), names);
    }),
  ));

test('no path, however it is written, names anything above its root', () =>
  fc.assert(
    fc.property(anyText, (text) => {
      for (const path of [parseItemPath(text), parseEncodedPath(text)])
        for (const name of path ?? [])
          assert.ok(name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name) && !/^\.postern(-|$)/i.test(name));
    }),
    { numRuns: 5000 },
  ));

test('a path deeper than 255 levels is refused, but read where it was stored', () => {
  const names = Array.from({ length: mostLevels }, () => '~');
  for (const [levels, isRead] of [
    [names, true],
    [[...names, 'a'], false],
    [Array.from({ length: 7500 }, () => 'é'), false],
  ] as const) {
    assert.equal(parseItemPath(levels.join('/')) !== null, isRead);
    assert.equal(parseEncodedPath(levels.map(encodeURIComponent).join('/')) !== null, isRead);
    assert.deepEqual(parseStoredPath(levels.join('/')), levels);
  }
});

test('a path is its parent and its name', () =>
  fc.assert(
    fc.property(fc.array(anyName, { minLength: 1, maxLength: 4 }), (names) => {
      const path = parseSegments(names);
      assert.ok(path);
      const split = splitPath(path);
      assert.ok(split);
      const last = parseSegments([split.name]);
      assert.ok(last);
      assert.deepEqual(joinPaths(split.parent, last), path);
      assert.deepEqual(parseItemPath(formatItemPath(path)), path);
    }),
  ));

test('a second file of the same name is kept as name (2).ext', () => {
  assert.equal(numberedName('report.pdf', 2), 'report (2).pdf');
  assert.equal(numberedName('archive.tar.gz', 10), 'archive.tar (10).gz');
  assert.equal(numberedName('README', 3), 'README (3)');
  assert.equal(numberedName('.profile', 2), '.profile (2)');
});

test('a long name gives way to its number, never within a letter', () => {
  const kept = numberedName(`${'é'.repeat(125)}.pdf`, 2);
  assert.match(kept, /^é+ \(2\)\.pdf$/);
  assert.ok(bytes(kept) <= 255);
});

test('a long ending does not keep a second file of the same name out', () => {
  for (const name of [`a.${'b'.repeat(253)}`, `notes. ${'é'.repeat(120)}`]) {
    assert.equal(nameError(name), null);
    assert.equal(nameError(numberedName(name, 2)), null);
  }
});

test('a numbered name is a name, and another one for each number', () =>
  fc.assert(
    fc.property(anyName, fc.integer({ min: 2, max: 10_000 }), (name, number) => {
      assert.equal(nameError(numberedName(name, number)), null);
      assert.notEqual(numberedName(name, number), name);
      assert.notEqual(numberedName(name, number), numberedName(name, number + 1));
    }),
  ));
