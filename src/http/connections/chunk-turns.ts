import type { Socket } from 'node:net';
import { fairQueue } from '#core/fair-queue.ts';
import { networkOf } from '#core/policy/address-range.ts';

const mostPerRead = 5; // ms that the chunks of one read may take
const pause = 100; // ms between two such reads, of all connections together

/**
 * Makes connections whose bodies come in tiny chunks take turns, and networks too. Node.js reads a socket 32 times
 * before it looks at the next one, and 64 KiB hold eleven thousand chunks of one byte: a second without an answer for
 * anybody.
 * @returns watches a connection from its first body in chunks on
 */
export function chunkTurns(): (socket: Socket) => void {
  const watched = new WeakSet<Socket>();
  const held = new WeakSet<Socket>();
  const waiting = fairQueue<Socket>();
  const timer = setTimeout(next, pause).unref();
  let isSet = true;

  function next(): void {
    isSet = false;
    const socket = waiting.take();
    if (!socket) return;
    held.delete(socket);
    socket.resume();
    setTimer();
  }
  function setTimer(): void {
    if (!isSet) timer.refresh();
    isSet = true;
  }
  return (socket) => {
    if (watched.has(socket)) return;
    watched.add(socket);
    const address = socket.remoteAddress ?? '';
    const group = [networkOf(address, 32, 48), networkOf(address, 32, 64)];
    let start = 0;
    // Where somebody listens to the bytes, Node.js parses each read in an event of its own, which can be measured and stopped.
    socket.prependListener('data', () => {
      start = performance.now();
    });
    socket.on('data', () => {
      if (performance.now() - start <= mostPerRead || held.has(socket)) return;
      held.add(socket);
      waiting.add(group, socket);
      socket.pause();
      setTimer();
    });
    socket.on('resume', () => {
      if (held.has(socket)) socket.pause(); // the body's reader wants more
    });
    socket.once('close', () => waiting.remove(group, socket));
  };
}
