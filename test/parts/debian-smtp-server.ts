import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';
import { endProcess } from './end-process.ts';

const python = '/usr/bin/python3'; // only this interpreter finds Debian's Python modules
const script = join(import.meta.dirname, 'debian-smtp-server.py');

/** A mail as the server has received it. */
export interface DebianMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly secure: boolean;
  /** The bytes of the message, headers included. */
  readonly raw: Buffer;
}

export const hasDebianSmtpServer = () => spawnSync(python, ['-c', 'import aiosmtpd.smtp'], { stdio: 'ignore' }).status === 0;

/** Starts an SMTP server with Debian's aiosmtpd. The user is `postern`, the password `secret`. */
export async function startDebianSmtpServer(t: TestContext, certificateFile: string, keyFile: string) {
  const child = spawn(python, [script, certificateFile, keyFile], { stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(t, () => endProcess(child, 'SIGTERM'));
  const lines = createInterface({ input: child.stdout });
  const [readyLine] = await once(lines, 'line');
  const mails: DebianMail[] = [];
  lines.on('line', (line) => {
    const { bytes, ...mail } = JSON.parse(line);
    mails.push({ ...mail, raw: Buffer.from(bytes, 'base64') });
  });
  return { port: Number(String(readyLine).replace('ready ', '')), mails };
}
