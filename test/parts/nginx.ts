import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasEnded } from './end-process.ts';
import { freePort } from './free-port.ts';

/** The variable parts of the nginx configuration. Lines and locations are in the syntax of nginx. */
export interface NginxOptions {
  /** Servers of the upstream `postern`, as host:port. */
  readonly postern: readonly string[];
  /** Additional lines of `location /`, which forwards to the upstream. */
  readonly locationLines?: string;
  /** Additional locations. */
  readonly locations?: string;
}

const configuration = (port: number, { postern, locationLines = '', locations = '' }: NginxOptions) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  client_max_body_size 0;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  upstream postern { ${postern.map((server) => `server ${server};`).join(' ')} }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://postern;
      proxy_set_header X-Forwarded-For $remote_addr;
      ${locationLines}
    }
    ${locations}
  }
}`;

export const hasNginx = () => spawnSync('nginx', ['-v']).status === 0;

/** Prepares nginx in a folder. @returns its URL, and a function that starts it and waits until it responds */
export async function prepareNginx(folder: string): Promise<{ url: string; start(options: NginxOptions): Promise<ChildProcess> }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const responds = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  return {
    url,
    async start(options) {
      mkdirSync(join(folder, 'tmp'), { recursive: true });
      writeFileSync(join(folder, 'nginx.conf'), configuration(port, options));
      const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log'], { stdio: 'ignore' });
      while (!(await responds())) if (hasEnded(child)) throw new Error('nginx ended');
      return child;
    },
  };
}
