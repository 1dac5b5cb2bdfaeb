import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { wideNetworkOf } from '#core/client-networks.ts';
import { HeldMemory } from '#http/held-memory.ts';

/** Maximum number of requests that wait behind the one in progress on their connection. */
const maxWaiting = 15;
/** Bytes of waiting requests, of a wide network and in total. */
const limits = { wideNetwork: 32 << 20, all: 96 << 20 };
const requestBytes = 4096; // memory of a request, in addition to its URL and headers

/** A waiting request: the functions that start it and release its memory. */
interface WaitingRequest {
  start(): void;
  release(): void;
}

/** The requests of one connection. Each starts when the response to the previous one has closed. */
interface RequestQueue {
  isBusy: boolean;
  readonly waiting: WaitingRequest[];
}

const sizeOf = ({ url = '', rawHeaders }: IncomingMessage) =>
  rawHeaders.reduce((sum, text) => sum + text.length, requestBytes + url.length);

/**
 * Handles the requests of a connection one after the other. Node.js starts as many as a client sends, even if the
 * client does not read the responses: all responses would stay in memory. A connection is closed if too many requests wait on it, or if
 * waiting requests hold too much memory. The requests that Node.js has already read from it, up to 64 KiB, are dropped.
 */
export function handleInSequence(handle: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, RequestQueue>();
  const memory = new HeldMemory(limits, 'bodiesBusy');

  function queueOf(socket: Socket): RequestQueue {
    const existing = queues.get(socket);
    if (existing) return existing;
    const queue: RequestQueue = { isBusy: false, waiting: [] };
    queues.set(socket, queue);
    socket.once('close', () => {
      for (const { release } of queue.waiting) release();
    });
    return queue;
  }

  /** Lets a request wait. At a memory limit, closes connections of a wide network that holds more. @throws Refusal if there is none */
  function enqueue({ waiting }: RequestQueue, request: IncomingMessage, start: () => void): void {
    const { socket } = request;
    const release = memory.hold({ wideNetwork: wideNetworkOf(socket.remoteAddress ?? '') }, sizeOf(request), () => socket.destroy());
    waiting.push({ start, release });
  }

  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const queue = queueOf(socket);
    if (queue.waiting.length >= maxWaiting) return void socket.destroy();
    const start = () => handle(request, response);
    if (queue.isBusy) {
      try {
        enqueue(queue, request, start);
      } catch {
        return void socket.destroy();
      }
    }
    response.once('close', () => {
      const next = queue.waiting.shift();
      next?.release();
      if (next && !socket.destroyed) next.start();
      else queue.isBusy = false;
    });
    if (queue.isBusy) return;
    queue.isBusy = true;
    start();
  };
}
