import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build, install, installTools, runtime } from './setup.mjs';

const root = join(import.meta.dirname, '..');
install(true);
installTools();
build();
const bin = (name) => join(root, 'node_modules', name);
const begin = (args, stdio) => spawn(runtime(), args, { cwd: root, stdio, env: { ...process.env, UV_THREADPOOL_SIZE: '16' } });

/** A check whose words are shown once it has ended: several run beside each other. */
function check(name, ...args) {
  const checked = begin(args, ['ignore', 'pipe', 'pipe']);
  const said = [];
  for (const stream of [checked.stdout, checked.stderr]) stream.on('data', (chunk) => said.push(chunk));
  return new Promise((resolve) =>
    checked.on('close', (code) => {
      console.log(`\n> ${name}\n${Buffer.concat(said)}`);
      resolve(code === 0);
    }),
  );
}

function tests() {
  console.log('\n> tests');
  const run = begin([join(root, 'scripts', 'run-tests.ts'), ...process.argv.slice(2)], 'inherit');
  return new Promise((resolve) => run.on('close', (code) => resolve(code === 0)));
}

const checks = await Promise.all([
  check('types', bin('typescript/bin/tsc')),
  check("types of the visitor's page", bin('typescript/bin/tsc'), '-p', 'web'),
  check('types of the console', bin('typescript/bin/tsc'), '-p', join('web', 'console')),
  check('format, lint, import direction', bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings'),
  check('unused code', bin('knip/bin/knip.js')),
]);
process.exit([...checks, await tests()].every(Boolean) ? 0 : 1);
