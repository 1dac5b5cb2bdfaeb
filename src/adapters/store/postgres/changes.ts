import { costTurns } from '#adapters/store/cost-turns.ts';
import { inTurns } from '#adapters/store/turns.ts';
import type { Tx, WriteOptions, WriteTurn } from '#ports/store.ts';
import { hasCollided } from './errors.ts';
import { lockOver } from './locks.ts';
import type { Connections } from './pool.ts';
import { transactions } from './transactions.ts';

const triesInLine = 3; // only changes of visitors can be in the way
const longestInLine = 10_000; // ms: a process that stands still holds up the line no longer

/** How many changes run at once. */
interface Most {
  readonly changesOfTenants: number;
  readonly changesOfOneTenant: number;
  readonly changesOfVisitors: number;
  readonly attempts: number;
}

/** The name of the line for changes that collided: those of a tenant, or of visitors of a network. */
function lineOf(turn: WriteTurn): string {
  if (turn === 'job') return 'changes of jobs';
  if ('tenant' in turn) return `changes of tenant ${turn.tenant}`;
  return `changes of visitors, network ${'visitor' in turn ? turn.visitor : turn.network}`;
}

/** Runs a change, again where it collided with another. */
export type Write = <T>(change: (tx: Tx) => Promise<T>, turn: WriteTurn, options?: WriteOptions) => Promise<T>;

/**
 * Runs changes beside one another. One that collided stands in a line of its tenant, and has the tenant to itself, in
 * all processes, when its turn comes; while the line is not empty, further changes of the tenant join it. Visitors'
 * changes that collided stand in a line of their network. Those of others go on beside it undisturbed.
 * @param lines connections for the locks of lines, one for each that moves
 */
export function changesOver(connections: Connections, lines: Connections, most: Most): Write {
  const transact = transactions(connections);
  const tenants = costTurns(most.changesOfTenants, most.changesOfOneTenant);
  const visitors = costTurns(most.changesOfVisitors);
  const networks = costTurns(most.attempts);
  const inLine = inTurns();
  const locked = lockOver(lines, longestInLine);
  const lengths = new Map<string, number>();

  function inTurn<T>(run: () => Promise<T>, turn: WriteTurn): Promise<T> {
    if (turn === 'job') return run();
    if ('tenant' in turn) return tenants(`${turn.tenant}`, run);
    return 'visitor' in turn ? visitors(turn.visitor, run) : networks(turn.network, run);
  }

  async function oneOfLine<T>(change: (tx: Tx) => Promise<T>, dryRun: boolean): Promise<T> {
    for (let tries = 1; tries <= triesInLine; tries += 1) {
      try {
        return await transact.beside()(change, dryRun);
      } catch (cause) {
        if (!hasCollided(cause)) throw cause;
      }
    }
    return transact.alone(change, dryRun);
  }

  async function standInLine<T>(line: string, work: () => Promise<T>): Promise<T> {
    lengths.set(line, (lengths.get(line) ?? 0) + 1);
    try {
      return await inLine(line, work);
    } finally {
      const left = (lengths.get(line) ?? 1) - 1;
      if (left > 0) lengths.set(line, left);
      else lengths.delete(line);
    }
  }

  return async (change, turn, { dryRun = false } = {}) => {
    const line = lineOf(turn);
    const ofTenant = turn !== 'job' && 'tenant' in turn;
    if (!ofTenant || !lengths.has(line))
      try {
        return await inTurn(() => transact.beside(ofTenant ? line : undefined)(change, dryRun), turn);
      } catch (cause) {
        if (!hasCollided(cause)) throw cause;
      }
    return standInLine(line, () => inTurn(() => locked(line, () => oneOfLine(change, dryRun)), turn));
  };
}
