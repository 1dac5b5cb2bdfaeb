import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { hasEnded } from './end-process.ts';
import { writeSelfSigned } from './self-signed.ts';

/** Ports of a reverse proxy, and of the Postern behind it. */
export interface Ports {
  readonly http: number;
  readonly https: number;
  readonly postern: number;
}

/** A reverse proxy whose documented configuration a test runs. */
interface ProxyKind {
  readonly program: string;
  /** Name of the file in deploy/proxies. */
  readonly file: string;
  /** Writes the configuration around the documented lines. @returns the arguments that run the proxy in the foreground */
  readonly prepare: (folder: string, site: string, ports: Ports) => readonly string[];
}

const apacheModules = '/usr/lib/apache2/modules';
const apacheModule = (name: string) => `LoadModule ${name}_module ${apacheModules}/mod_${name}.so`;

/** The proxies of the documentation. The test of a proxy that is not installed is reported as skipped. */
export const proxyKinds: Readonly<Record<string, ProxyKind>> = {
  nginx: {
    program: 'nginx',
    file: 'nginx.conf',
    prepare(folder, site) {
      mkdirSync(join(folder, 'tmp'));
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/tmp;`).join(' ');
      const user = process.getuid?.() === 0 ? 'user root;' : '';
      writeFileSync(
        join(folder, 'main.conf'),
        `${user} daemon off; pid ${folder}/pid; events {} http { access_log off; ${paths} ${site} }`,
      );
      return ['-c', join(folder, 'main.conf'), '-e', join(folder, 'error.log')];
    },
  },
  Caddy: {
    program: 'caddy',
    file: 'Caddyfile',
    prepare(folder, site, { http, https }) {
      const global = `{\n\tadmin off\n\thttp_port ${http}\n\thttps_port ${https}\n\tstorage file_system ${folder}\n}\n`;
      const tls = `\ttls ${folder}/fullchain.pem ${folder}/privkey.pem\n`;
      writeFileSync(join(folder, 'Caddyfile'), global + site.replace(/^(localhost) \{\n/m, `$1 {\n${tls}`));
      return ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
    },
  },
  Apache: {
    program: 'apache2',
    file: 'apache.conf',
    prepare(folder, site, { http, https }) {
      const modules = ['mpm_event', 'authz_core', 'alias', 'headers', 'proxy', 'proxy_http', 'ssl'].map(apacheModule).join('\n');
      const main = `ServerRoot ${folder}\nServerName localhost\nPidFile ${folder}/pid\nErrorLog ${folder}/error.log\nDefaultRuntimeDir ${folder}\nListen ${http}\nListen ${https}\n`;
      writeFileSync(join(folder, 'main.conf'), `${main}${modules}\n${site}`);
      return ['-X', '-f', join(folder, 'main.conf')];
    },
  },
  Traefik: {
    program: 'traefik',
    file: 'traefik.yaml',
    prepare(folder, site, { http, https }) {
      writeFileSync(join(folder, 'dynamic.yaml'), site);
      return [
        `--entryPoints.web.address=127.0.0.1:${http}`,
        `--entryPoints.websecure.address=127.0.0.1:${https}`,
        `--providers.file.filename=${join(folder, 'dynamic.yaml')}`,
      ];
    },
  },
};

/** Returns the documented lines with the host name, ports and certificate of the test. */
function siteFor(file: string, folder: string, { http, https, postern }: Ports): string {
  return readFileSync(join(import.meta.dirname, '../../deploy/proxies', file), 'utf8')
    .replace(/^#.*\n/gm, '')
    .replaceAll('/etc/letsencrypt/live/files.example.com', folder)
    .replaceAll('https://files.example.com/', `https://localhost:${https}/`)
    .replaceAll('https://$http_host', `https://localhost:${https}`)
    .replaceAll('files.example.com', 'localhost')
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${postern}`)
    .replace(/listen 80;|\*:80>/g, (text) => text.replace('80', String(http)))
    .replace(/listen 443 |\*:443>/g, (text) => text.replace('443', String(https)));
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.end());
  });
}

/** Starts a reverse proxy with its documented configuration, and waits until it accepts connections. */
export async function startTlsProxy(kind: ProxyKind, folder: string, ports: Ports): Promise<ChildProcess> {
  writeSelfSigned(folder, 'localhost');
  const child = spawn(kind.program, kind.prepare(folder, siteFor(kind.file, folder, ports), ports), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: folder },
  });
  let errorOutput = '';
  child.stderr.on('data', (text) => {
    errorOutput += text;
  });
  for (const port of [ports.https, ports.http])
    while (!(await acceptsConnections(port))) if (hasEnded(child)) throw new Error(`${kind.program} ended: ${errorOutput}`);
  return child;
}
