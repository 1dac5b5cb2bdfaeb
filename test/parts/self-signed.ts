import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Writes a self-signed certificate for a host and its key into a folder, as `fullchain.pem` and `privkey.pem`. */
export function writeSelfSigned(folder: string, host: string): { readonly certificate: string; readonly key: string } {
  const [certificate, key] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')];
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  const out = ['-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...out], { stdio: 'ignore' });
  return { certificate, key };
}
