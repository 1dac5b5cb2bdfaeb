import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build, install, installTool, runtime } from './setup.mjs';

install(true);
installTool('s3-sdk');
build();
const { status } = spawnSync(
  runtime(),
  ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, '..', 'bench', 'bench.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
process.exit(status ?? 1);
