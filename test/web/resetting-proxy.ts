import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { atEnd } from '../parts/at-end.ts';

/** A TCP proxy between browser and server that resets chosen connections. */
export interface ResettingProxy {
  readonly port: number;
  /** Sets the address to which new connections are forwarded. */
  forwardTo(to: string): void;
  /** Resets every connection with this text, because browsers repeat some requests once. An empty text resets none. */
  resetAt(text: string): void;
}

export async function startResettingProxy(t: TestContext): Promise<ResettingProxy> {
  let [target, resetText] = ['', ''];
  const open = new Set<Socket>();
  const server = createServer((browser) => {
    const postern = connect(Number(new URL(target).port), '127.0.0.1');
    for (const socket of [browser, postern]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket)).on('error', () => {});
    }
    browser.on('data', (bytes) => {
      if (resetText === '' || !bytes.includes(resetText)) return postern.write(bytes);
      browser.resetAndDestroy();
      return postern.destroy();
    });
    postern.pipe(browser);
    browser.on('end', () => postern.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, async () => {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    forwardTo(to) {
      target = to;
    },
    resetAt(text) {
      resetText = text;
    },
  };
}
