const atOnce = 4; // of the ten connections to a database on a server
const inOneTurn = 10; // of the event loop
const mostUnknown = 60_000; // ms for which a transfer goes on while nobody can say whether it may
const askEvery = 2000; // ms (visit.md, Sessions): a revocation cuts a transfer within five seconds

/** A transfer that is under way. */
export interface Transfer {
  readonly stillPermitted: () => Promise<boolean>;
  /** Resets the connection, so that what is still in our buffers is not delivered. */
  readonly cut: () => void;
}

/** All transfers of this process. */
export interface Transfers {
  /** @returns to be called at the end of the transfer */
  follow(transfer: Transfer): () => void;
  readonly count: () => number;
  /** Waits until none is under way, at most `patience` ms; then cuts those that are left. */
  drain(patience: number): Promise<void>;
  stop(): void;
}

/** Asks the decision again for each transfer under way, and cuts what is no longer permitted. @param now ms, never set back */
export function followTransfers(now: () => number): Transfers {
  const under = new Set<Transfer>();
  const askedAt = new WeakMap<Transfer, number>(); // when it was last known to be permitted
  let emptied: (() => void) | undefined;
  async function ask(transfer: Transfer): Promise<void> {
    const permitted = await transfer.stillPermitted().catch(() => null);
    if (!under.has(transfer)) return;
    if (permitted) askedAt.set(transfer, now());
    // "Could not ask" is not "no", but for a while only: a revocation must not go unnoticed.
    const unknownFor = now() - (askedAt.get(transfer) ?? now());
    if (permitted === false || (permitted === null && unknownFor > mostUnknown)) transfer.cut();
  }
  /** A few at a time: ten thousand at once would take every connection to the database, and hold up everybody else. */
  async function askAll(): Promise<void> {
    const waiting = [...under];
    const next = async () => {
      for (let transfer = waiting.pop(); transfer; transfer = waiting.pop()) {
        await ask(transfer);
        if (waiting.length % inOneTurn === 0) await new Promise(setImmediate);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, next));
  }
  let asking = false;
  const timer = setInterval(() => {
    if (asking) return;
    asking = true;
    void askAll().finally(() => {
      asking = false;
    });
  }, askEvery).unref();
  return {
    follow(transfer) {
      under.add(transfer);
      askedAt.set(transfer, now());
      return () => {
        under.delete(transfer);
        if (under.size === 0) emptied?.();
      };
    },
    count: () => under.size,
    async drain(patience) {
      if (under.size === 0) return;
      await new Promise<void>((resolve) => {
        const timeout = setTimeout(resolve, patience);
        emptied = () => {
          clearTimeout(timeout);
          resolve();
        };
      });
      for (const transfer of under) transfer.cut();
    },
    stop: () => clearInterval(timer),
  };
}
