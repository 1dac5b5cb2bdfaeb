import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { operations } from '../src/features/operations.ts';
import { temporaryFolder } from './start.ts';

const root = join(import.meta.dirname, '..');
const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');

const forbiddenImports = [
  ['src/core/authorization/wrong.ts', 'node:fs'],
  ['src/core/authorization/wrong.ts', '#ports/clock.ts'],
  ['src/core/authorization/wrong.ts', 'kysely'],
  ['src/ports/wrong.ts', '#features/audit/audit-entry.ts'],
  ['src/features/shares/wrong.ts', '#features/visits/authorization/authorize-visit.ts'],
  ['src/features/shares/wrong.ts', '#features/login-profiles/add-login-profile.ts'],
  ['src/features/records/wrong.ts', '#features/links/find-link.ts'],
  ['src/features/links/wrong.ts', '#features/audit/audit-entry.ts'],
  ['src/features/turns/wrong.ts', '#features/shares/add-share.ts'],
  ['src/features/audit/wrong.ts', '#features/shares/add-share.ts'],
  ['src/features/visits/files/wrong.ts', '#features/shares/add-share.ts'],
  ['src/features/visits/sessions/wrong.ts', '#features/visits/sign-in/kinds/users/users-kind.ts'],
  ['src/features/visits/sign-in/kinds/users/wrong.ts', '../password/password-kind.ts'],
  ['src/features/shares/wrong.ts', '#features/operations.ts'],
  ['src/features/shares/wrong.ts', '#adapters/os/system.ts'],
  ['src/features/shares/wrong.ts', 'fastify'],
  ['src/features/shares/wrong.ts', 'node:fs'],
  ['src/features/wrong.ts', '#http/problem.ts'],
  ['src/adapters/os/wrong.ts', '#features/audit/audit-entry.ts'],
  ['src/adapters/os/wrong.ts', 'fastify'],
  ['src/http/wrong.ts', '#adapters/os/system.ts'],
  ['src/http/wrong.ts', 'kysely'],
  ['src/settings/wrong.ts', '#ports/clock.ts'],
  ['src/main.ts', './http/server.ts'],
] as const;

const allowedImports = [
  ['src/features/shares/right-1.ts', '#features/audit/audit-entry.ts'],
  ['src/features/shares/right-5.ts', '#features/login-profiles/insert-login-profile.ts'],
  ['src/features/audit/right-6.ts', '#features/alerts/enqueue-alert.ts'],
  ['src/features/visits/files/right-7.ts', '#features/visits/sessions/visit-session.ts'],
  ['src/features/visits/sign-in/kinds/users/right-8.ts', './user-identity.ts'],
  ['src/features/visits/sign-in/sign-in-kinds.ts', './kinds/users/users-kind.ts'],
  ['src/features/shares/right-2.ts', 'kysely'],
  ['src/http/right-3.ts', '#features/visits/authorization/authorize-visit.ts'],
  ['src/adapters/os/right-4.ts', 'node:fs'],
] as const;

test('no file of the server imports values from node:http, because that would load the HTTP client of Node.js (4 MB)', () => {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.includes('.test.'));
  const importingFiles = files.filter((file) => /^import (?!type ).*from 'node:http';/m.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(importingFiles, []);
});

/** Writes files with these imports next to a copy of the project's Biome configuration. @returns the output of the linter */
async function lint(t: TestContext, imports: readonly (readonly [string, string])[]): Promise<string> {
  const folder = await temporaryFolder(t);
  copyFileSync(join(root, 'biome.json'), join(folder, 'biome.json'));
  for (const [index, [file, specifier]] of imports.entries()) {
    const path = join(folder, file.replace('wrong', `wrong-${index}`));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `import { thing } from '${specifier}';\n\nthing();\n`);
  }
  const { stdout, stderr } = spawnSync(process.execPath, [biome, 'lint', '--max-diagnostics=200'], { cwd: folder, encoding: 'utf8' });
  return stdout + stderr;
}

test('the linter refuses imports that the architecture does not allow', async (t) => {
  const report = await lint(t, forbiddenImports);
  const undetectedImports = forbiddenImports.filter(
    ([file], index) => !report.includes(`${file.replace('wrong', `wrong-${index}`)}:1:23 lint/style/noRestrictedImports`),
  );
  assert.deepEqual(undetectedImports, []);
});

test('the linter accepts allowed imports', async (t) => {
  assert.doesNotMatch(await lint(t, allowedImports), /noRestrictedImports/);
});

test('no file of src or web is longer than 250 lines, except the translations', () => {
  const sources = globSync(['src/**/*.ts', 'web/**/*.{ts,tsx}'], { cwd: root, exclude: ['src/core/translations/**'] });
  const longFiles = sources.filter((file) => readFileSync(join(root, file), 'utf8').split('\n').length > 251);
  assert.deepEqual(longFiles, []);
});

test('npm start installs all packages that the server, the pages and their builds import', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const sources = globSync(['src/**/*.ts', 'web/**/*.{ts,tsx}'], { cwd: root, exclude: ['**/*.test.ts'] });
  const imports = /^(?:import|export) (?!type )[^'";]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;
  const importedNames = (text: string) => [...text.matchAll(imports)].map((match) => match.slice(1).find(Boolean) ?? '');
  const packageOf = (name: string) => name.split('/', name.startsWith('@') ? 2 : 1).join('/');
  const missing = sources.flatMap((file) =>
    importedNames(readFileSync(join(root, file), 'utf8'))
      .filter((name) => !/^([.#]|node:)/.test(name) && !(packageOf(name) in dependencies))
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test('folders and files have specific names', () => {
  const vagueNames = globSync(['{src,web,test,bench}/**/*'], { cwd: root }).filter((file) =>
    /(^|\/)(utils?|helpers?|common|misc|types|index)(\.tsx?)?$/.test(file),
  );
  assert.deepEqual(vagueNames, []);
});

test('bench/longest-inputs.ts contains a call of every operation', () => {
  const calls = readFileSync(join(root, 'bench/longest-inputs.ts'), 'utf8');
  assert.deepEqual(
    operations.map(({ name }) => name).filter((name) => !calls.includes(`'${name}'`)),
    [],
  );
});
