import { once } from 'node:events';
import { createServer } from 'node:http';
import type { TestContext } from 'node:test';
import { createProxyServer } from 'http-proxy-3';
import { atEnd } from '../parts/at-end.ts';
import { endProcess } from '../parts/end-process.ts';
import { hasNginx, prepareNginx } from '../parts/nginx.ts';
import { temporaryFolder } from '../start.ts';

/** A real reverse proxy in front of several Postern processes. */
export interface FrontProxy {
  readonly url: string;
  /**
   * Starts to distribute requests among these targets. Call it once. A target that refuses a connection gets no requests for at
   * least ten seconds.
   */
  forwardTo(targets: readonly string[]): Promise<void>;
}

/** Starts a proxy from npm, for machines without nginx. */
async function startFromNpm(t: TestContext): Promise<FrontProxy> {
  const targets: string[] = [];
  const proxy = createProxyServer({ xfwd: true });
  let turn = 0;
  const server = createServer((incoming, answer) => {
    turn += 1;
    const target = targets[turn % targets.length] ?? '';
    proxy.web(incoming, answer, { target }, (problem) => {
      const index = targets.indexOf(target);
      if ('code' in problem && problem.code === 'ECONNREFUSED' && index >= 0) targets.splice(index, 1);
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
    async forwardTo(to) {
      targets.push(...to);
    },
  };
}

async function startNginx(t: TestContext): Promise<FrontProxy> {
  const nginx = await prepareNginx(await temporaryFolder(t));
  return {
    url: nginx.url,
    async forwardTo(targets) {
      const child = await nginx.start({
        postern: targets.map((target) => new URL(target).host),
        locationLines: 'proxy_set_header Host $http_host;',
      });
      atEnd(t, () => endProcess(child, 'SIGTERM'));
    },
  };
}

export const startFrontProxy = (t: TestContext): Promise<FrontProxy> => (hasNginx() ? startNginx(t) : startFromNpm(t));
