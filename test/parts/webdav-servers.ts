import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebdavConfiguration } from '#core/records/location-configurations.ts';
import { endProcess } from './end-process.ts';
import { freePort } from './free-port.ts';
import { isInstalled } from './is-installed.ts';

const nginxModule = '/usr/lib/nginx/modules/ngx_http_dav_ext_module.so';

export interface WebdavTestServer extends AsyncDisposable {
  /** Creates an empty folder. @returns the configuration of a location in it */
  newFolder(): Promise<WebdavConfiguration>;
}

/** Waits until a server responds. @throws Error if its process ends */
export async function untilReady(server: ChildProcess, url: string): Promise<void> {
  const exit = once(server, 'exit').then(() => {
    throw new Error(`${server.spawnfile} has ended`);
  });
  exit.catch(() => {});
  for (;;) {
    const isReady = fetch(url).then(
      () => true,
      () => false,
    );
    if (await Promise.race([isReady, exit])) return;
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 20)), exit]);
  }
}

/** Ends a server, and deletes its folder. */
export async function endServer(server: ChildProcess, folder: string): Promise<void> {
  await endProcess(server, 'SIGTERM');
  await rm(folder, { recursive: true, force: true });
}

const nginxSettings = (folder: string, port: number) => `
load_module ${nginxModule};
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 512; }
http {
  access_log off;
  client_max_body_size 0;
  client_body_temp_path ${folder}/bodies;
  server {
    listen 127.0.0.1:${port};
    location /dav/ {
      root ${folder}/files;
      dav_methods PUT DELETE MKCOL COPY MOVE;
      dav_ext_methods PROPFIND OPTIONS;
    }
  }
}
`;

/** Starts nginx with Debian's libnginx-mod-http-dav-ext, which lists no ETags and ignores the conditions of changes. */
export async function startNginxWebdav(): Promise<WebdavTestServer> {
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'nginx-webdav-'))];
  await mkdir(join(folder, 'files', 'dav'), { recursive: true });
  await writeFile(join(folder, 'nginx.conf'), nginxSettings(folder, port));
  const server = spawn('/usr/sbin/nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}/dav`;
  await untilReady(server, url);
  return {
    async newFolder() {
      const root = randomUUID();
      await mkdir(join(folder, 'files', 'dav', root));
      return { url, root };
    },
    [Symbol.asyncDispose]: () => endServer(server, folder),
  };
}
/** Returns the package that is missing for WebDAV with nginx, or an empty string. */
export const missingForNginxWebdav = (): string =>
  !isInstalled('nginx') ? 'nginx' : existsSync(nginxModule) ? '' : 'libnginx-mod-http-dav-ext';

/** Starts `rclone serve webdav` with ETags and Basic authentication. It ignores all conditions of changes except those about locks. */
export async function startRcloneWebdav(): Promise<WebdavTestServer> {
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'rclone-webdav-'))];
  const credentials = ['--user', 'postern', '--pass', 'a secret'];
  const options = ['--addr', `127.0.0.1:${port}`, ...credentials, '--etag-hash', 'MD5', '--config', '/dev/null'];
  const server = spawn('rclone', ['serve', 'webdav', folder, ...options], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, url);
  return {
    async newFolder() {
      const root = randomUUID();
      const authorization = `Basic ${Buffer.from('postern:a secret').toString('base64')}`;
      // rclone caches listings, so it must create the folder itself.
      await fetch(`${url}/${root}/`, { method: 'MKCOL', headers: { authorization } });
      return { url, root, username: 'postern', password: 'a secret' };
    },
    [Symbol.asyncDispose]: () => endServer(server, folder),
  };
}
