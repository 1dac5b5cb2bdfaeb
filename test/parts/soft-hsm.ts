import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../start.ts';
import { atEnd } from './at-end.ts';
import { isInstalled } from './is-installed.ts';

const module = '/usr/lib/softhsm/libsofthsm2.so';
const [label, pin] = ['postern', '1234'];

/** Returns the package that is missing to create a token, or an empty string. */
export function missingForToken(): string {
  if (!existsSync(module) || !isInstalled('softhsm2-util')) return 'softhsm2';
  return existsSync('/usr/bin/pkcs11-tool') ? '' : 'opensc';
}

/** A PKCS #11 token in software: SoftHSM. */
export interface SoftHsm {
  /** The settings of Postern for this token, without POSTERN_PKCS11_KEYS. */
  readonly environment: Readonly<Record<string, string>>;
  /** Imports a private key. @param file PKCS #8 in PEM @param id hexadecimal */
  importKey(file: string, id: string): void;
  /** Removes the token, as if it were unplugged. */
  remove(): Promise<void>;
}

/** Creates a token. The variable SOFTHSM2_CONF of this process names its configuration file until the end of the test. */
export async function createToken(t: TestContext): Promise<SoftHsm> {
  const folder = await temporaryFolder(t);
  const configuration = join(folder, 'softhsm.conf');
  await mkdir(join(folder, 'tokens'));
  writeFileSync(configuration, `directories.tokendir = ${folder}/tokens\nlog.level = ERROR\n`);
  process.env['SOFTHSM2_CONF'] = configuration;
  atEnd(t, () => {
    delete process.env['SOFTHSM2_CONF'];
  });
  const run = (parameters: readonly string[]) => execFileSync('softhsm2-util', parameters, { stdio: 'pipe' });
  run(['--init-token', '--free', '--label', label, '--pin', pin, '--so-pin', '12345678']);
  return {
    environment: { POSTERN_PKCS11_MODULE: module, POSTERN_PKCS11_TOKEN: label, POSTERN_PKCS11_PIN: pin },
    importKey: (file, id) => void run(['--import', file, '--token', label, '--label', id, '--id', id, '--pin', pin]),
    remove: () => rm(join(folder, 'tokens'), { recursive: true }),
  };
}
