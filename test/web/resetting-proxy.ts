import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { atEnd } from '../parts/at-end.ts';

/** A TCP proxy between browser and server. It resets chosen connections, or ends them in the middle of a response. */
export interface ResettingProxy {
  readonly port: number;
  /** Sets the address to which new connections are forwarded. */
  forwardTo(to: string): void;
  /** Resets every connection that sends this text: one reset is not enough, because browsers retry some requests. Empty: none. */
  resetAt(text: string): void;
  /** Ends the connection after the headers of the next response to a request that contains this text. */
  cutResponseTo(text: string): void;
  /** Resets the next `connections` connections that send more than `bytes` bytes. */
  resetAfter(bytes: number, connections: number): void;
  /** Returns how many connections are still to be reset because of `resetAfter`. */
  readonly resetsLeft: () => number;
}

/** Stops reading from a connection until the other connection has sent its buffered data. */
function pauseUntilDrained(from: Socket, to: Socket): void {
  from.pause();
  to.once('drain', () => from.resume());
}

/** Sends only the headers of the next response, and ends both connections. */
function cutResponse(postern: Socket, browser: Socket): void {
  postern.unpipe(browser);
  postern.once('data', (bytes) => {
    const [headers] = `${bytes}`.split('\r\n\r\n');
    browser.end(`${headers}\r\n\r\n`);
    postern.destroy();
  });
  postern.resume();
}

export async function startResettingProxy(t: TestContext): Promise<ResettingProxy> {
  let [target, resetText, cutText] = ['', '', ''];
  let [maxBytes, resetsLeft] = [0, 0];
  const sockets = new Set<Socket>();
  const server = createServer((browser) => {
    const postern = connect(Number(new URL(target).port), '127.0.0.1');
    for (const socket of [browser, postern]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    }
    let sentBytes = 0;
    browser.on('data', (bytes) => {
      sentBytes += bytes.length;
      if (cutText !== '' && bytes.includes(cutText)) {
        cutText = '';
        cutResponse(postern, browser);
      }
      const isOverLimit = resetsLeft > 0 && sentBytes > maxBytes;
      if (isOverLimit) resetsLeft -= 1;
      else if (resetText === '' || !bytes.includes(resetText)) return postern.write(bytes) || pauseUntilDrained(browser, postern);
      browser.resetAndDestroy();
      return postern.destroy();
    });
    postern.pipe(browser);
    browser.on('end', () => postern.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, async () => {
    for (const socket of sockets) socket.destroy();
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
    cutResponseTo(text) {
      cutText = text;
    },
    resetAfter(bytes, connections) {
      [maxBytes, resetsLeft] = [bytes, connections];
    },
    resetsLeft: () => resetsLeft,
  };
}
