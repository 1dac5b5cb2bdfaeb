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
  /** Resets each of the next connections that send this many bytes. */
  resetAfter(bytes: number, connections: number): void;
  /** Returns how many connections `resetAfter` has yet to reset. */
  readonly resetsLeft: () => number;
}

/** Stops reading from a connection until the other one has sent what it holds. */
function pauseUntilDrained(from: Socket, to: Socket): void {
  from.pause();
  to.once('drain', () => from.resume());
}

export async function startResettingProxy(t: TestContext): Promise<ResettingProxy> {
  let [target, resetText] = ['', ''];
  let [maxBytes, resetsLeft] = [0, 0];
  const open = new Set<Socket>();
  const server = createServer((browser) => {
    const postern = connect(Number(new URL(target).port), '127.0.0.1');
    for (const socket of [browser, postern]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket)).on('error', () => {});
    }
    let sent = 0;
    browser.on('data', (bytes) => {
      sent += bytes.length;
      const isTooMuch = resetsLeft > 0 && sent > maxBytes;
      if (isTooMuch) resetsLeft -= 1;
      else if (resetText === '' || !bytes.includes(resetText)) return postern.write(bytes) || pauseUntilDrained(browser, postern);
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
    resetAfter(bytes, connections) {
      [maxBytes, resetsLeft] = [bytes, connections];
    },
    resetsLeft: () => resetsLeft,
  };
}
