import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AzureConfiguration } from '#core/records/location-configurations.ts';
import { endProcess } from './end-process.ts';
import { freePort } from './free-port.ts';

/** `azure-emulator` has its own package-lock. */
const program = join(import.meta.dirname, '../../azure-emulator', 'node_modules', 'azurite/dist/src/blob/main.js');
const account = 'postern';
const accountKey = Buffer.from('postern-postern-postern-postern-postern-postern-postern').toString('base64');

export const hasAzurite = existsSync(program);

/** Azurite, the emulator of Azure Blob Storage by Microsoft. */
export interface Azurite extends AsyncDisposable {
  /** Returns the configuration of a location in a container that does not exist yet. */
  newConfiguration(): AzureConfiguration;
}

async function waitUntilReady(server: ChildProcess, url: string): Promise<void> {
  const ended = once(server, 'exit').then(() => {
    throw new Error('azurite has ended');
  });
  for (;;) {
    const isReady = fetch(url).then(
      () => true,
      () => false,
    );
    if (await Promise.race([isReady, ended])) return;
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 50)), ended]);
  }
}

/** Starts the emulator. It keeps its files in a temporary folder. */
export async function startAzurite(): Promise<Azurite> {
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'azurite-'))];
  const options = ['--blobHost', '127.0.0.1', '--blobPort', `${port}`, '--location', folder];
  const server = spawn(process.execPath, [program, ...options, '--silent', '--disableTelemetry', '--skipApiVersionCheck'], {
    env: { ...process.env, AZURITE_ACCOUNTS: `${account}:${accountKey}` },
    stdio: 'ignore',
  });
  const endpoint = `http://127.0.0.1:${port}/${account}`;
  await waitUntilReady(server, endpoint);
  return {
    newConfiguration: () => ({ endpoint, container: `test-${randomUUID()}`, accountKey }),
    async [Symbol.asyncDispose]() {
      await endProcess(server, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
