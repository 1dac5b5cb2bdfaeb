import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build, install, installTools, runtime } from './setup.mjs';

const root = join(import.meta.dirname, '..');
install(true);
installTools();
build();
if (process.argv.includes('--set-up')) process.exit(); // the packages are installed, and Postern is built
const program = (name) => join(root, 'node_modules', name);
const start = (args, stdio) => spawn(runtime(), args, { cwd: root, stdio, env: { ...process.env, UV_THREADPOOL_SIZE: '16' } });

/** Runs a check, and prints its output when it has ended, because several run at the same time. @returns whether it passed */
function check(name, ...args) {
  const child = start(args, ['ignore', 'pipe', 'pipe']);
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  return new Promise((resolve) =>
    child.on('close', (code) => {
      console.log(`\n> ${name}\n${Buffer.concat(output)}`);
      resolve(code === 0);
    }),
  );
}

function runTests() {
  console.log('\n> tests');
  const child = start([join(root, 'scripts', 'run-tests.ts'), '--built-threads', ...process.argv.slice(2)], 'inherit');
  return new Promise((resolve) => child.on('close', (code) => resolve(code === 0)));
}

const checks = await Promise.all([
  check('types', program('typescript/bin/tsc')),
  check("types of the visitor's page", program('typescript/bin/tsc'), '-p', 'web'),
  check('types of the console', program('typescript/bin/tsc'), '-p', join('web', 'console')),
  check('format, lint, import direction', program('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings'),
  check('unused code', program('knip/bin/knip.js')),
]);
process.exit([...checks, await runTests()].every(Boolean) ? 0 : 1);
