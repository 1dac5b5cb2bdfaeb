import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build, install, runtime } from './setup.mjs';

const root = join(import.meta.dirname, '..');
install(true);
build();
const run = (name, ...args) => {
  console.log(`\n> ${name}`);
  return spawnSync(runtime(), args, { cwd: root, stdio: 'inherit', env: { ...process.env, UV_THREADPOOL_SIZE: '16' } }).status === 0;
};
const bin = (name) => join(root, 'node_modules', name);
const checks = [
  run('types', bin('typescript/bin/tsc')),
  run("types of the visitor's page", bin('typescript/bin/tsc'), '-p', 'web'),
  run('types of the console', bin('typescript/bin/tsc'), '-p', join('web', 'console')),
  run('format, lint, import direction', bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings'),
  run('unused code', bin('knip/bin/knip.js')),
  run('tests', join(root, 'scripts', 'run-tests.ts'), ...process.argv.slice(2)),
];
process.exit(checks.every(Boolean) ? 0 : 1);
