import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');

/** What the linter says of a file with that one import. */
function lint(file: string, imported: string): string {
  const input = `import { thing } from '${imported}';\nthing();\n`;
  const { stdout, stderr } = spawnSync(process.execPath, [biome, 'lint', `--stdin-file-path=${file}`], {
    cwd: root,
    input,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

const wrong = [
  ['src/core/policy/wrong.ts', 'node:fs'],
  ['src/core/policy/wrong.ts', '#ports/clock.ts'],
  ['src/core/policy/wrong.ts', 'kysely'],
  ['src/ports/wrong.ts', '#features/trail.ts'],
  ['src/features/shares/wrong.ts', '#features/visits/enter.ts'],
  ['src/features/shares/wrong.ts', '#features/operations.ts'],
  ['src/features/shares/wrong.ts', '#adapters/os/system.ts'],
  ['src/features/shares/wrong.ts', 'fastify'],
  ['src/features/shares/wrong.ts', 'node:fs'],
  ['src/features/wrong.ts', '#http/problem.ts'],
  ['src/adapters/os/wrong.ts', '#features/trail.ts'],
  ['src/adapters/os/wrong.ts', 'fastify'],
  ['src/http/wrong.ts', '#adapters/os/system.ts'],
  ['src/http/wrong.ts', 'kysely'],
  ['src/main.ts', './http/server.ts'],
] as const;

for (const [file, imported] of wrong)
  test(`imports run inward alone: ${file} may not import ${imported}`, () => {
    assert.match(lint(file, imported), /noRestrictedImports/);
  });

test('what may be imported is not refused', () => {
  assert.doesNotMatch(lint('src/features/shares/right.ts', '#features/trail.ts'), /noRestrictedImports/);
  assert.doesNotMatch(lint('src/http/right.ts', '#features/visits/enter.ts'), /noRestrictedImports/);
});

test('no source file is longer than 250 lines', () => {
  const long = globSync(['src/**/*.ts', 'web/**/*.{ts,tsx}'], { cwd: root }).filter(
    (file) => readFileSync(join(root, file), 'utf8').split('\n').length > 251,
  );
  assert.deepEqual(long, []);
});

test('no folder or file has a name that says nothing', () => {
  const vague = globSync(['{src,web,test,bench}/**/*'], { cwd: root }).filter((file) =>
    /(^|\/)(utils?|helpers?|common|misc|types|index)(\.tsx?)?$/.test(file),
  );
  assert.deepEqual(vague, []);
});
