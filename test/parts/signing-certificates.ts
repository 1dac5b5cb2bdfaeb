import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../start.ts';
import { atEnd } from './at-end.ts';

const openssl = (folder: string, parameters: readonly string[]) => execFileSync('openssl', parameters, { cwd: folder, stdio: 'pipe' });

/** The password of each PKCS #12 file. */
export const pkcs12Password = 'a password of a file';

interface CertificateOptions {
  readonly key?: 'ec' | 'rsa' | 'ed25519' | 'rsa1024';
  /** Further parameters of `openssl pkcs12 -export`. */
  readonly encryption?: readonly string[];
}

const keyParameters = {
  ec: ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  rsa: ['genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
  rsa1024: ['genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024'],
  ed25519: ['genpkey', '-algorithm', 'ED25519'],
};

/** A certificate authority of a test. Needs the program openssl. */
export class TestAuthority {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(t: TestContext): Promise<TestAuthority> {
    const authority = new TestAuthority(await temporaryFolder(t));
    openssl(authority.folder, [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '3650', '-subj', '/CN=Test CA'],
      ...['-keyout', 'ca.key', '-out', 'ca.pem', '-addext', 'basicConstraints=critical,CA:TRUE'],
    ]);
    return authority;
  }

  /** Issues a certificate. @param extension of the certificate, in the form of openssl */
  issue(name: string, { key = 'ec' }: CertificateOptions = {}, extension = 'keyUsage=critical,digitalSignature'): void {
    const { folder } = this;
    openssl(folder, [...keyParameters[key], '-out', `${name}.key`]);
    openssl(folder, ['req', '-new', '-key', `${name}.key`, '-subj', `/O=Acme/CN=${name}`, '-out', `${name}.csr`]);
    writeFileSync(join(folder, `${name}.ext`), extension);
    openssl(folder, [
      ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-out', `${name}.pem`],
      ...['-days', '365', '-extfile', `${name}.ext`],
    ]);
  }

  /** Issues a certificate. @returns it as a PKCS #12 file in base64 */
  pkcs12(name: string, options: CertificateOptions = {}): string {
    this.issue(name, options);
    openssl(this.folder, [
      ...['pkcs12', '-export', '-inkey', `${name}.key`, '-in', `${name}.pem`, '-certfile', 'ca.pem', '-out', `${name}.p12`],
      ...['-passout', `pass:${pkcs12Password}`, ...(options.encryption ?? [])],
    ]);
    return readFileSync(join(this.folder, `${name}.p12`)).toString('base64');
  }
}

/** A time-stamp authority: `openssl ts` behind an HTTP server. The test can change its response. */
export async function startTimeStampAuthority(t: TestContext, authority: TestAuthority) {
  authority.issue('tsa', {}, 'keyUsage=critical,digitalSignature\nextendedKeyUsage=critical,timeStamping');
  const { folder } = authority;
  writeFileSync(
    join(folder, 'tsa.cnf'),
    [
      ...['[tsa]', 'default_tsa = one', '[one]', 'serial = tsa.serial', 'signer_cert = tsa.pem', 'signer_key = tsa.key', 'certs = ca.pem'],
      ...['signer_digest = sha256', 'default_policy = 1.2.3.4', 'digests = sha256', 'ess_cert_id_alg = sha256'],
    ].join('\n'),
  );
  writeFileSync(join(folder, 'tsa.serial'), '01\n');
  const state = { requests: 0, change: (response: Buffer): Buffer | null => response };
  const server = createServer(async (request, response) => {
    state.requests += 1;
    writeFileSync(join(folder, 'query.tsq'), await buffer(request));
    const { status } = spawnSync('openssl', ['ts', '-reply', '-config', 'tsa.cnf', '-queryfile', 'query.tsq', '-out', 'reply.tsr'], {
      cwd: folder,
    });
    const body = status === 0 ? state.change(readFileSync(join(folder, 'reply.tsr'))) : null;
    if (body) response.setHeader('content-type', 'application/timestamp-reply').end(body);
    else response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => server.close());
  const { port } = server.address() as AddressInfo; // a server that listens on a port has an address
  return { url: `http://127.0.0.1:${port}/`, state };
}
