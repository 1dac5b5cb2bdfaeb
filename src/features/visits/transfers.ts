const atOnce = 10;
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

/** Asks the decision again for each transfer under way, and cuts what is no longer permitted. */
export function followTransfers(): Transfers {
  const under = new Set<Transfer>();
  let emptied: (() => void) | undefined;
  async function ask(transfer: Transfer): Promise<void> {
    const permitted = await transfer.stillPermitted().catch(() => false); // what cannot be asked is not permitted
    if (!permitted && under.has(transfer)) transfer.cut();
  }
  /** A few at a time: ten thousand at once would hold up everybody else. */
  async function askAll(): Promise<void> {
    const all = [...under];
    for (let begin = 0; begin < all.length; begin += atOnce) {
      for (const transfer of all.slice(begin, begin + atOnce)) void ask(transfer);
      await new Promise(setImmediate);
    }
  }
  const timer = setInterval(() => void askAll(), askEvery).unref();
  return {
    follow(transfer) {
      under.add(transfer);
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
