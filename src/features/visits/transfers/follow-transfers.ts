import { waitAtMost } from '#core/time-limit.ts';

const maxConcurrent = 4; // checks at once: each may use one of the ten PostgreSQL connections for reads
const batchSize = 10; // checks before the event loop runs other work
const maxUnknownTime = 60_000; // ms for which a transfer continues while its permission cannot be checked
const checkTimeout = 5000; // ms: a check that waits for long must not delay the others
const recordTimeout = 1000; // ms in which aborted transfers can record their outcome
const defaultCheckInterval = 2000; // ms: a revocation aborts a transfer within five seconds

/** A running upload or download. */
export interface Transfer {
  readonly stillPermitted: () => Promise<boolean>;
  /** Resets the connection, so that bytes in the server's buffers are not delivered. */
  readonly abort: () => void;
}

/** The running transfers of this process. */
export interface Transfers {
  /** Starts to check a transfer. @returns a function that must be called at the end of the transfer */
  follow(transfer: Transfer): () => void;
  readonly runningCount: () => number;
  /**
   * Waits for all transfers to end. Aborts those that still run after `timeout` ms, and waits at most one second more
   * for their outcome to be recorded.
   */
  drain(timeout: number): Promise<void>;
  stop(): void;
}

/**
 * Checks regularly whether each running transfer is still permitted, and aborts it if not.
 * @param now returns ms of a monotonic clock
 * @param checkInterval ms between two checks
 */
export function followTransfers(now: () => number, checkInterval = defaultCheckInterval): Transfers {
  const running = new Set<Transfer>();
  const permittedAt = new WeakMap<Transfer, number>(); // time of the last check that permitted it
  let onEmpty: (() => void) | undefined;
  async function check(transfer: Transfer): Promise<void> {
    const result = await waitAtMost(
      transfer.stillPermitted().catch(() => null),
      checkTimeout,
    );
    const isPermitted = result.late ? null : result.value;
    if (!running.has(transfer)) return;
    if (isPermitted) permittedAt.set(transfer, now());
    // A check without an answer (an error, or none in time) does not abort a transfer at once. After a minute without an answer the
    // transfer is aborted, because the share may have been revoked meanwhile.
    const unknownTime = now() - (permittedAt.get(transfer) ?? now());
    if (isPermitted === false || (isPermitted === null && unknownTime > maxUnknownTime)) transfer.abort();
  }
  /** Checks a few transfers at a time: ten thousand checks at once would take every database connection from other requests. */
  async function checkAll(): Promise<void> {
    const queue = [...running];
    const checkNext = async () => {
      for (let transfer = queue.pop(); transfer; transfer = queue.pop()) {
        await check(transfer);
        if (queue.length % batchSize === 0) await new Promise(setImmediate);
      }
    };
    await Promise.all(Array.from({ length: maxConcurrent }, checkNext));
  }
  /** Waits until no transfer runs, at most `timeout` ms. */
  function waitUntilEmpty(timeout: number): Promise<void> {
    if (running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const drainTimer = setTimeout(resolve, timeout);
      onEmpty = () => {
        clearTimeout(drainTimer);
        resolve();
      };
    });
  }
  let isChecking = false;
  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    void checkAll().finally(() => {
      isChecking = false;
    });
  }, checkInterval).unref();
  return {
    follow(transfer) {
      running.add(transfer);
      permittedAt.set(transfer, now());
      return () => {
        running.delete(transfer);
        if (running.size === 0) onEmpty?.();
      };
    },
    runningCount: () => running.size,
    async drain(timeout) {
      await waitUntilEmpty(timeout);
      for (const transfer of running) transfer.abort();
      await waitUntilEmpty(recordTimeout);
    },
    stop: () => clearInterval(timer),
  };
}
