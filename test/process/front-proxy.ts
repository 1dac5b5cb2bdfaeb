import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createPort } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createProxyServer } from 'http-proxy-3';
import { atEnd } from '../parts/at-end.ts';
import { until } from '../ports/until.ts';
import { temporaryFolder } from '../start.ts';

/** A real proxy before several Posterns. */
export interface FrontProxy {
  readonly url: string;
  /** Hands requests round among these from now on; one that does not answer is left out. */
  lead(targets: readonly string[]): Promise<void>;
}

/** One from npm, where no other is installed. */
async function startFromNpm(t: TestContext): Promise<FrontProxy> {
  const targets: string[] = [];
  const proxy = createProxyServer({ xfwd: true });
  let turn = 0;
  const server = createServer((incoming, answer) => {
    turn += 1;
    const target = targets[turn % targets.length] ?? '';
    proxy.web(incoming, answer, { target }, (problem) => {
      const place = targets.indexOf(target);
      if ('code' in problem && problem.code === 'ECONNREFUSED' && place >= 0) targets.splice(place, 1);
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  return {
    url,
    async lead(to) {
      targets.push(...to);
    },
  };
}

async function freePort(): Promise<number> {
  const server = createPort().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

const configuration = (port: number, targets: readonly string[]) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  client_max_body_size 0;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  upstream postern { ${targets.map((target) => `server ${new URL(target).host};`).join(' ')} }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://postern;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
    }
  }
}`;

async function startNginx(t: TestContext): Promise<FrontProxy> {
  const folder = await temporaryFolder(t);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    async lead(targets) {
      mkdirSync(join(folder, 'tmp'));
      writeFileSync(join(folder, 'nginx.conf'), configuration(port, targets));
      const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log'], { stdio: 'ignore' });
      atEnd(t, async () => {
        child.kill('SIGTERM');
        await once(child, 'exit');
      });
      const answers = () =>
        fetch(url).then(
          () => true,
          () => false,
        );
      await until(answers);
    },
  };
}

/** nginx where the machine has it. */
export const startFrontProxy = (t: TestContext): Promise<FrontProxy> =>
  spawnSync('nginx', ['-v']).status === 0 ? startNginx(t) : startFromNpm(t);
