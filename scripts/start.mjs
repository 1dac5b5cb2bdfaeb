import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build, install, runtime } from './setup.mjs';

install(false);
build();
const main = join(import.meta.dirname, '..', 'src', 'main.ts');
const env = { UV_THREADPOOL_SIZE: '16', ...process.env };
const server = spawn(runtime(), ['--disable-warning=ExperimentalWarning', main], { stdio: 'inherit', env });
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => server.kill(signal));
server.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
