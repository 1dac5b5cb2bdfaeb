import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build, install, runtime } from './setup.mjs';

install(false);
build();
const script = join(import.meta.dirname, '..', 'build', 'server', 'maintain.js');
const { status } = spawnSync(runtime(), ['--disable-warning=ExperimentalWarning', script, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(status ?? 1);
