import type { Socket } from 'node:net';
import { networkOf } from '#core/authorization/address-range.ts';
import { fairQueue } from '#core/fair-queue.ts';

const maxParseTime = 5; // ms to parse the chunks of one read
const resumeInterval = 100; // ms between two paused connections that resume, over all connections

/**
 * Makes connections whose bodies arrive in tiny chunks take turns, and their networks too. Node.js reads a socket 32
 * times before it reads the next one, and 64 KiB hold eleven thousand chunks of one byte: every other client would wait
 * for a second.
 * @returns a function that watches a connection, to be called at each chunked body
 */
export function chunkTurns(): (socket: Socket) => void {
  const watched = new WeakSet<Socket>();
  const paused = new WeakSet<Socket>();
  const queue = fairQueue<Socket>();
  const timer = setTimeout(resumeNext, resumeInterval).unref();
  let isTimerSet = true;

  function resumeNext(): void {
    isTimerSet = false;
    const socket = queue.take();
    if (!socket) return;
    paused.delete(socket);
    socket.resume();
    setTimer();
  }
  function setTimer(): void {
    if (!isTimerSet) timer.refresh();
    isTimerSet = true;
  }
  return (socket) => {
    if (watched.has(socket)) return;
    watched.add(socket);
    const address = socket.remoteAddress ?? '';
    const networks = [networkOf(address, 32, 48), networkOf(address, 32, 64)];
    let start = 0;
    // With a 'data' listener, Node.js parses each read in an event of its own, which can be measured and paused.
    socket.prependListener('data', () => {
      start = performance.now();
    });
    socket.on('data', () => {
      if (performance.now() - start <= maxParseTime || paused.has(socket)) return;
      paused.add(socket);
      queue.add(networks, socket);
      socket.pause();
      setTimer();
    });
    socket.on('resume', () => {
      if (paused.has(socket)) socket.pause(); // the body's reader has resumed it
    });
    socket.once('close', () => queue.remove(networks, socket));
  };
}
