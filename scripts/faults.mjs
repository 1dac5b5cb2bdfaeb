// Runs the tests of test/faults in their long form. For example, each storage call and database write of an action fails
// once, or system calls on the folder `files` fail. Takes minutes. Without root or without strace, some tests are skipped.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, runtime } from './setup.mjs';

const root = join(import.meta.dirname, '..');
install(true);
build();
const files = globSync('test/faults/*.test.ts', { cwd: root });
const env = { ...process.env, UV_THREADPOOL_SIZE: '16', POSTERN_FAULTS: 'long' };
spawn(runtime(), [join(root, 'scripts', 'run-tests.ts'), ...files], { cwd: root, stdio: 'inherit', env }).on('close', (code) =>
  process.exit(code ?? 1),
);
