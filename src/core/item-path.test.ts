import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatItemPath,
  joinPaths,
  maxPathLevels,
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
const invalidNames = [
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

for (const name of invalidNames) {
  test(`an invalid or reserved name is refused: ${JSON.stringify(name)}`, () => {
    assert.notEqual(nameError(name), null);
    assert.equal(parseSegments(['a', name, 'b']), null);
  });
}

for (const name of invalidNames.filter((text) => text.isWellFormed())) // no percent-encoding stands for half a surrogate pair
  test(`a percent-encoded name that is invalid or reserved is refused: ${JSON.stringify(name)}`, () => {
    const encoded = [...new TextEncoder().encode(name)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    assert.equal(parseEncodedPath(`a/${encoded}/b`), null);
  });

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
  test(`an unusual name is valid: ${name}`, () => assert.equal(nameError(name), null));

test('letters that a file system may treat as equal cannot bypass the reserved names', () => {
  for (const name of ['．postern', '.ｐｏｓｔｅｒｎ', '.poſtern', '.POſTERN-x']) assert.notEqual(nameError(name), null);
});

test('a name is at most 255 bytes long, counted in UTF-8', () => {
  assert.equal(nameError('a'.repeat(255)), null);
  assert.notEqual(nameError('a'.repeat(256)), null);
  assert.equal(nameError('é'.repeat(127)), null);
  assert.notEqual(nameError('é'.repeat(128)), null);
});

test('the root is / or an empty string', () => {
  for (const text of ['', '/']) assert.deepEqual(parseItemPath(text), []);
  assert.deepEqual(parseEncodedPath(''), []);
  // In the path of a URL, a slash follows a segment: here, that segment would be empty.
  assert.equal(parseEncodedPath('/'), null);
  assert.equal(formatItemPath(rootPath), '/');
  assert.equal(splitPath(rootPath), null);
});

test('a plain path may begin with a slash, and every path may end with one', () => {
  for (const text of ['a/b', '/a/b', 'a/b/', '/a/b/']) assert.deepEqual(parseItemPath(text), ['a', 'b']);
  assert.deepEqual(parseEncodedPath('a/b/'), ['a', 'b']);
});

for (const text of ['a//b', '//a', 'a//', '/../a', 'a/..', 'a/./b', '..'])
  test(`a path with an empty segment, "." or ".." is refused: ${text}`, () => {
    assert.equal(parseItemPath(text), null);
    assert.equal(parseEncodedPath(text), null);
  });

test('a URL path is decoded exactly once', () => {
  assert.deepEqual(parseEncodedPath('a%20b/%25'), ['a b', '%']);
  assert.deepEqual(parseEncodedPath('%252e%252e'), ['%2e%2e']);
  assert.deepEqual(parseEncodedPath('a+b'), ['a+b']);
});

test('a plain path is never percent-decoded', () => assert.deepEqual(parseItemPath('%2e%2e/a%20b'), ['%2e%2e', 'a%20b']));

for (const text of ['%', '%zz', '%ff', '%c3', '%c0%ae', '%ed%a0%80', 'a/%e4'])
  test(`percent-encoding that is malformed or is not UTF-8 is refused: ${text}`, () => assert.equal(parseEncodedPath(text), null));

const anyName = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((name) => nameError(name) === null);
const anyText = fc.string({
  unit: fc.constantFrom('.', '..', '/', '\\', 'a', '%2e', '%2F', '%5c', '%00', '.postern', 'é', ' '),
  maxLength: 8,
});

test('every valid name can be addressed by a URL, byte for byte', () =>
  fc.assert(
    fc.property(fc.array(anyName, { maxLength: 4 }), (names) => {
      assert.deepEqual(parseEncodedPath(names.map(encodeURIComponent).join('/')), names);
      assert.deepEqual(parseItemPath(`/${names.join('/')}`), names);
    }),
  ));

test('no path leads out of its root, in any spelling', () =>
  fc.assert(
    fc.property(anyText, (text) => {
      for (const path of [parseItemPath(text), parseEncodedPath(text)])
        for (const name of path ?? [])
          assert.ok(name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name) && !/^\.postern(-|$)/i.test(name));
    }),
    { numRuns: 5000 },
  ));

test('a path of more than 255 levels is refused, unless it is already stored', () => {
  const names = Array.from({ length: maxPathLevels }, () => '~');
  for (const [levels, isAccepted] of [
    [names, true],
    [[...names, 'a'], false],
    [Array.from({ length: 7500 }, () => 'é'), false],
  ] as const) {
    assert.equal(parseItemPath(levels.join('/')) !== null, isAccepted);
    assert.equal(parseEncodedPath(levels.map(encodeURIComponent).join('/')) !== null, isAccepted);
    assert.deepEqual(parseStoredPath(levels.join('/')), levels);
  }
});

test('a path splits into its parent and its name', () =>
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

test('a second file of the same name is stored as name (2).ext', () => {
  assert.equal(numberedName('report.pdf', 2), 'report (2).pdf');
  assert.equal(numberedName('archive.tar.gz', 10), 'archive.tar (10).gz');
  assert.equal(numberedName('README', 3), 'README (3)');
  assert.equal(numberedName('.profile', 2), '.profile (2)');
});

test('a long name is shortened before a number is added, and no letter is cut in two', () => {
  const numbered = numberedName(`${'é'.repeat(125)}.pdf`, 2);
  assert.match(numbered, /^é+ \(2\)\.pdf$/);
  assert.ok(bytes(numbered) <= 255);
});

test('a second file of the same name can have a long extension', () => {
  for (const name of [`a.${'b'.repeat(253)}`, `notes. ${'é'.repeat(120)}`]) {
    assert.equal(nameError(name), null);
    assert.equal(nameError(numberedName(name, 2)), null);
  }
});

test('a numbered name is valid, and differs for each number', () =>
  fc.assert(
    fc.property(anyName, fc.integer({ min: 2, max: 10_000 }), (name, number) => {
      assert.equal(nameError(numberedName(name, number)), null);
      assert.notEqual(numberedName(name, number), name);
      assert.notEqual(numberedName(name, number), numberedName(name, number + 1));
    }),
  ));
