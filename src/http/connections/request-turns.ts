import { networksOf } from '#core/client-networks.ts';
import { fairQueue } from '#core/fair-queue.ts';

const targetTime = 5; // ms of work in one iteration of the event loop: each listening socket accepts only one connection per iteration
const [minStarts, maxStarts] = [2, 64]; // requests that start in one turn

/**
 * Starts requests a few milliseconds at a time, so that a network with hundreds of busy connections does not delay the others. New
 * connections take such turns, too (connection-turns.ts).
 */
export interface RequestTurns {
  /** Returns whether a request may start in this turn. If so, counts it. */
  takeStart(): boolean;
  /** Queues a request for which `takeStart` has just returned false. @param address of the client */
  wait(address: string, request: TurnRequest): void;
}

/** A request, or a new connection, that waits for its turn. */
export interface TurnRequest {
  readonly start: () => void;
  /** Calls a function when the client leaves: the request then does not start. */
  readonly onLeave: (leave: () => void) => void;
  /** Called instead of `start` if the client leaves. */
  readonly drop: () => void;
}

/**
 * Creates the turns in which requests start.
 * @param now returns a monotonic time in ms
 * @param parseTime returns the time in ms spent so far on parsing in turns. It does not count as work: parsing has limits of its own
 *   (parse-turns.ts), and a client whose bytes are costly to parse must not reduce how many requests of other clients start
 */
export function requestTurns(now: () => number, parseTime: () => number): RequestTurns {
  const waiting = fairQueue<TurnRequest>();
  let starts = 0; // in this turn
  let allowedStarts = maxStarts;
  let turnStartedAt: number | null = null; // null: no request has started in this turn
  const workTime = () => now() - parseTime();

  function beginTurn(): void {
    turnStartedAt = workTime();
    setImmediate(endTurn);
  }
  /** Ends a turn, and starts waiting requests: fewer if the turn took longer than `targetTime`, otherwise up to twice as many as before. */
  function endTurn(): void {
    const duration = workTime() - (turnStartedAt ?? 0);
    allowedStarts =
      duration > targetTime ? Math.max(minStarts, Math.floor((starts * targetTime) / duration)) : Math.min(maxStarts, allowedStarts * 2);
    [starts, turnStartedAt] = [0, null];
    while (starts < allowedStarts) {
      const next = waiting.take();
      if (!next) return;
      if (turnStartedAt === null) beginTurn();
      starts += 1;
      next.start();
    }
  }
  return {
    takeStart() {
      if (turnStartedAt === null) beginTurn();
      if (starts >= allowedStarts) return false;
      starts += 1;
      return true;
    },
    wait(address, request) {
      const networks = networksOf(address);
      waiting.add(networks, request);
      // Clients that leave and come back must not lengthen the queue.
      request.onLeave(() => waiting.remove(networks, request) && request.drop());
    },
  };
}
