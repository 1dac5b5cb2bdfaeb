import type { Socket } from 'node:net';

const mostPerRead = 5; // ms that the chunks of one read may take
const pause = 100; // ms between two such reads, of all connections together

/**
 * Makes connections whose bodies come in tiny chunks take turns. Node.js reads a socket 32 times before it looks at the
 * next one, and 64 KiB hold eleven thousand chunks of one byte: a second without an answer for anybody.
 * @returns watches a connection from its first body in chunks on
 */
export function chunkTurns(): (socket: Socket) => void {
  const watched = new WeakSet<Socket>();
  const held = new Set<Socket>();
  const timer = setTimeout(next, pause).unref();
  let waiting = true;

  function next(): void {
    waiting = false;
    const [socket] = held;
    if (!socket) return;
    held.delete(socket);
    socket.resume();
    waitForNext();
  }
  function waitForNext(): void {
    if (!waiting) timer.refresh();
    waiting = true;
  }
  function hold(socket: Socket): void {
    held.add(socket);
    socket.pause();
    waitForNext();
  }
  return (socket) => {
    if (watched.has(socket)) return;
    watched.add(socket);
    let start = 0;
    // Where somebody listens to the bytes, Node.js parses each read in an event of its own, which can be measured and stopped.
    socket.prependListener('data', () => {
      start = performance.now();
    });
    socket.on('data', () => {
      if (performance.now() - start > mostPerRead) hold(socket);
    });
    socket.on('resume', () => {
      if (held.has(socket)) socket.pause(); // the body's reader wants more
    });
    socket.once('close', () => held.delete(socket));
  };
}
