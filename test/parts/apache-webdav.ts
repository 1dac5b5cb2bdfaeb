import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebdavConfiguration } from '#core/records/location-configurations.ts';
import { freePort } from './free-port.ts';
import { endServer, untilReady, type WebdavTestServer } from './webdav-servers.ts';

const [username, password, realm] = ['postern', 'a secret', 'files'];
const modules = '/usr/lib/apache2/modules';
const nobody = 65_534; // user and group of the server: apache2 does not serve files as root

/** A WebDAV server: Debian's apache2 with mod_dav_fs. */
export interface ApacheWebdav extends WebdavTestServer {
  /** Folder of the files on this machine. */
  readonly folder: string;
  /** Creates an empty folder. @param scheme of HTTP authentication @returns the configuration of a location in the folder */
  newFolder(scheme?: 'Basic' | 'Digest' | 'Bearer'): Promise<WebdavConfiguration>;
}

const bearerToken = 'token-of-the-files';

const settingsOf = (folder: string, port: number) => `
ServerRoot ${folder}
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile ${folder}/apache.pid
ErrorLog ${folder}/error.log
${['mpm_event', 'authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_basic', 'auth_digest', 'alias', 'dav', 'dav_fs']
  .map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`)
  .join('\n')}
User #${nobody}
Group #${nobody}
StartServers 1
MaxKeepAliveRequests 0
DavLockDB ${folder}/locks/lock
Alias /basic ${folder}/files
Alias /digest ${folder}/files
Alias /bearer ${folder}/files
<Directory ${folder}/files>
  Dav On
</Directory>
<Location /basic>
  AuthType Basic
  AuthName ${realm}
  AuthBasicProvider file
  AuthUserFile ${folder}/basic
  Require valid-user
</Location>
<Location /digest>
  AuthType Digest
  AuthName ${realm}
  AuthDigestProvider file
  AuthUserFile ${folder}/digest
  Require valid-user
</Location>
<Location /bearer>
  Require expr "%{HTTP:Authorization} == 'Bearer ${bearerToken}'"
</Location>
`;

const hash = (algorithm: string, text: string, encoding: 'hex' | 'base64') => createHash(algorithm).update(text).digest(encoding);

/** Starts the server. */
export async function startApacheWebdav(): Promise<ApacheWebdav> {
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'apache-webdav-'))];
  for (const name of ['files', 'locks']) {
    await mkdir(join(folder, name));
    if (process.getuid?.() === 0) await chown(join(folder, name), nobody, nobody);
  }
  await writeFile(join(folder, 'basic'), `${username}:{SHA}${hash('sha1', password, 'base64')}\n`);
  await writeFile(join(folder, 'digest'), `${username}:${realm}:${hash('md5', `${username}:${realm}:${password}`, 'hex')}\n`);
  await writeFile(join(folder, 'apache.conf'), settingsOf(folder, port));
  await chmod(folder, 0o755);
  const server = spawn('/usr/sbin/apache2', ['-f', join(folder, 'apache.conf'), '-DFOREGROUND'], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, url);
  return {
    folder: join(folder, 'files'),
    async newFolder(scheme = 'Basic') {
      const root = randomUUID();
      await mkdir(join(folder, 'files', root));
      if (process.getuid?.() === 0) await chown(join(folder, 'files', root), nobody, nobody);
      const credentials = scheme === 'Bearer' ? { bearerToken } : { username, password };
      return { url: `${url}/${scheme.toLowerCase()}`, root, ...credentials };
    },
    [Symbol.asyncDispose]: () => endServer(server, folder),
  };
}
