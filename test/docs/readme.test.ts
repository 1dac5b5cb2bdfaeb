import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startPostern, temporaryFolder } from '../start.ts';

const root = join(import.meta.dirname, '../..');

/** Returns the tour of the README: its second block of shell commands. */
async function readTour(): Promise<string> {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '');
  return blocks[1] ?? '';
}

/** Runs a shell script that stops at the first failing command. The output includes stderr. */
function run(script: string, cwd: string): Promise<{ code: number | null; output: string }> {
  const shell = spawn('sh', ['-e', '-c', script], { cwd });
  let output = '';
  shell.stdout.on('data', (chunk) => {
    output += chunk;
  });
  shell.stderr.on('data', (chunk) => {
    output += chunk;
  });
  return new Promise((resolve) => shell.on('close', (code) => resolve({ code, output })));
}

test('the five-minute tour in the README works as typed', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'data'));
  const postern = await startPostern(t, {
    environment: { POSTERN_DATA: join(folder, 'data'), POSTERN_API_KEY: '' },
    data: join(folder, 'data'),
  });
  await cp(join(root, 'README.md'), join(folder, 'README.md'));
  const tour = await readTour();
  const script = tour.replaceAll('http://localhost:8080', postern.apiUrl).replaceAll('curl -s ', 'curl -sS --fail-with-body ');

  const { code, output } = await run(script, folder);

  assert.equal(code, 0, output);
  assert.match(output, /Quarter 4 went well\./);
  assert.match(output, /"sha256":"[0-9a-f]{64}"/);
  assert.match(output, /The visitor has not signed in, or the user is inactive or unknown\./);
  assert.match(output, /"action":"share\/add"/);
});
