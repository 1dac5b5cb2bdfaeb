import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Json, startPostern, temporaryFolder } from '../start.ts';

const tools = join(import.meta.dirname, '../../openapi-tools');
/** A tool with a package-lock of its own; its types are of another TypeScript. */
const load = (name: string): Json => createRequire(join(tools, 'package.json'))(name);
const run = (program: string, ...parameters: string[]) =>
  execFileSync(process.execPath, [join(tools, 'node_modules', program), ...parameters], { stdio: 'pipe', encoding: 'utf8' });

async function descriptionOf(t: TestContext): Promise<string> {
  const postern = await startPostern(t);
  return JSON.stringify((await postern.visit('/openapi.json')).body);
}

test('redocly and scalar find no error in /openapi.json', async (t) => {
  const source = await descriptionOf(t);
  const { createConfig, lintFromString } = load('@redocly/openapi-core');
  const config = await createConfig({ extends: ['recommended'] });
  const problems: Json[] = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  );
  const { validate } = await import(createRequire(join(tools, 'package.json')).resolve('@scalar/openapi-parser'));
  const { valid, errors } = await validate(source);
  assert.ok(valid, JSON.stringify(errors));
});

const options = {
  strict: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  noFallthroughCasesInSwitch: true,
  skipLibCheck: false,
  noEmit: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
};

test('the clients that openapi-typescript and @hey-api/openapi-ts make of /openapi.json compile strictly, libraries included', async (t) => {
  const folder = await temporaryFolder(t);
  const description = join(folder, 'openapi.json');
  writeFileSync(description, await descriptionOf(t));
  const client = join(folder, 'client');
  mkdirSync(client);
  run('openapi-typescript/bin/cli.js', description, '-o', join(client, 'types.ts'));
  run('@hey-api/openapi-ts/bin/run.js', '-i', description, '-o', join(client, 'sdk'), '--no-log-file');
  writeFileSync(
    join(client, 'use.ts'),
    `import type { components } from './types.ts';
     import { shareGet } from './sdk/index.ts';
     export const title = (share: components['schemas']['Share']): string => share.title;
     export const get = (id: number) => shareGet({ body: { id } });`,
  );
  writeFileSync(
    join(client, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...options, allowImportingTsExtensions: true }, include: ['**/*.ts'] }),
  );
  const said = (() => {
    try {
      return run('typescript/bin/tsc', '-p', client);
    } catch (cause) {
      return String(Reflect.get(Object(cause), 'stdout'));
    }
  })();
  assert.equal(said, '');
});
