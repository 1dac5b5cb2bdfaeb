import { narrowNetworkOf, siteOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';
import { windowCounts } from '#core/window-counts.ts';
import type { Clock } from '#ports/clock.ts';

const maxUnknown = 60; // unknown links a minute from one network
const maxUnknownOfSite = 600; // from an IPv6 /48: one client can own all its networks
const maxVerified = 5; // pairs of name and password a minute from a network that is refused
const minute = 60_000; // ms
const maxExchanged = 500; // networks in one exchange: a client with many networks must not fill an SQL statement or the table

/** Counts unknown links by network, site and minute, and refuses networks and sites that try too many. */
export interface UnknownLinks {
  /** Counts an unknown link for the network and the site of an address. */
  record(address: string): void;
  /** Returns the refusal for an address whose network or site has tried too many unknown links, or null. */
  refusal(address: string): Refusal | null;
  /**
   * Counts a pair of name and password from a refused network, and returns whether it may be verified. Only pairs for existing links
   * are verified, which takes long: without this limit, the response times would show which of many links exist.
   */
  mayVerify(address: string): boolean;
  /**
   * Sends the counts of this process to the other processes, and takes over the totals of all processes. Counts that cannot be sent are
   * sent by the next call in the same minute.
   * @throws the errors of the shared counts
   */
  exchange(counts: SharedCounts): Promise<void>;
}

/** The counts of all processes in a minute. */
interface SharedCounts {
  /**
   * @param since start of the minute
   * @param networks one for each count that is not shared yet. A request for an unknown link counts for the network of its client and,
   *   with IPv6, also for the site
   */
  add(since: number, networks: readonly string[]): Promise<void>;
  /** Returns the counts by network. */
  read(since: number): Promise<ReadonlyMap<string, number>>;
}

/** Returns the networks for which unknown links of an address count, with their limits. For IPv4, the site is the network itself. */
const limitsOf = (address: string): ReadonlyMap<string, number> =>
  new Map([
    [siteOf(address), maxUnknownOfSite],
    [narrowNetworkOf(address), maxUnknown],
  ]);

/** Creates the counts of unknown links. @param onUnknownLink called for each unknown link */
export function createUnknownLinks(clock: Clock, onUnknownLink: () => void): UnknownLinks {
  const counts = new Map<string, number>();
  const verifications = windowCounts(minute, clock.now);
  let currentMinute = 0;
  let unsharedNetworks: string[] = [];
  const resetOldCounts = (now: number) => {
    const minuteStart = now - (now % minute);
    if (minuteStart === currentMinute) return;
    counts.clear();
    unsharedNetworks = [];
    currentMinute = minuteStart;
  };
  async function shareCounts({ add }: Pick<SharedCounts, 'add'>, since: number): Promise<void> {
    const networks = unsharedNetworks;
    unsharedNetworks = [];
    try {
      await add(since, networks);
    } catch (cause) {
      if (since === currentMinute) unsharedNetworks = [...networks, ...unsharedNetworks].slice(0, maxExchanged);
      throw cause;
    }
  }
  return {
    record(address) {
      resetOldCounts(clock.now());
      onUnknownLink();
      for (const [network, limit] of limitsOf(address)) {
        const count = (counts.get(network) ?? 0) + 1;
        counts.set(network, count);
        if (count <= limit && unsharedNetworks.length < maxExchanged) unsharedNetworks.push(network);
      }
    },
    refusal(address) {
      const now = clock.now();
      resetOldCounts(now);
      if (counts.size === 0) return null;
      if (
        limitsOf(address)
          .entries()
          .every(([network, limit]) => (counts.get(network) ?? 0) < limit)
      )
        return null;
      return new Refusal('tooManyFailures', 'Your network has requested too many links that do not exist. Try again in a minute.', {
        retryAfter: Math.ceil((currentMinute + minute - now) / 1000),
      });
    },
    mayVerify: (address) => verifications.add(narrowNetworkOf(address)) <= maxVerified,
    async exchange(sharedCounts) {
      resetOldCounts(clock.now());
      const since = currentMinute;
      await shareCounts(sharedCounts, since);
      const total = await sharedCounts.read(since);
      if (since !== currentMinute) return;
      for (const [network, count] of total) counts.set(network, Math.max(count, counts.get(network) ?? 0));
    },
  };
}
