import { sql } from 'kysely';
import type { MailLane } from '#ports/mail.ts';
import type { Store, Tx } from '#ports/store.ts';
import { type CrowdedMails, type MailTurn, turnKey } from './slow-mails.ts';

export const waitingDeliveries = (db: Tx, lane: MailLane) =>
  db.selectFrom('delivery').where('lane', '=', lane).where('state', '=', 'waiting');
/** Whether a waiting delivery can be sent now. */
export const isDue = (store: Store) => sql<boolean>`due_at <= ${store.dialect.now}`;

/** The tenant that had the last turn, and the last turn within each tenant. */
export interface LastTurns {
  readonly tid: number;
  /** `turn` of the last delivery of each tenant. */
  readonly turns: ReadonlyMap<number, string>;
}

/** Returns the next tenant in turn that has a delivery which is due, or null. @param excluded tenants that get no turn */
async function nextTenant(store: Store, db: Tx, lane: MailLane, after: number, excluded: ReadonlySet<number>): Promise<number | null> {
  const ofAll = waitingDeliveries(db, lane).select('tid').where(isDue(store)).orderBy('tid').limit(1);
  const due = excluded.size === 0 ? ofAll : ofAll.where('tid', 'not in', [...excluded]);
  const next = (await due.where('tid', '>', after).executeTakeFirst()) ?? (await due.executeTakeFirst());
  return next?.tid ?? null;
}

/** Returns the next of a tenant's turns in which a delivery is due, or null. @param excluded turns that are left out */
async function nextTurn(store: Store, db: Tx, last: MailTurn & { readonly lane: MailLane }, excluded: ReadonlySet<string>) {
  const due = waitingDeliveries(db, last.lane).select('turn').where('tid', '=', last.tid).where(isDue(store)).orderBy('turn').limit(1);
  // Searches the index once for each excluded turn, instead of reading all deliveries of the turn, which may be many.
  const firstFrom = async (query: typeof due): Promise<string | null> => {
    let next = await query.executeTakeFirst();
    while (next && excluded.has(turnKey({ tid: last.tid, turn: next.turn })))
      next = await due.where('turn', '>', next.turn).executeTakeFirst();
    return next?.turn ?? null;
  };
  return (await firstFrom(due.where('turn', '>', last.turn))) ?? firstFrom(due);
}

/** Returns the turn whose deliveries are sent next, or null if none is due. Leaves out the tenants and turns of `crowded`. */
export async function findTurn(store: Store, db: Tx, lane: MailLane, last: LastTurns, crowded: CrowdedMails): Promise<MailTurn | null> {
  const excluded = new Set(crowded.tenants);
  for (;;) {
    const tid = await nextTenant(store, db, lane, last.tid, excluded);
    if (tid === null) return null;
    const turn = await nextTurn(store, db, { lane, tid, turn: last.turns.get(tid) ?? '' }, crowded.turns);
    if (turn !== null) return { tid, turn };
    excluded.add(tid);
  }
}

const noTurns: LastTurns = { tid: 0, turns: new Map() };
const noneCrowded: CrowdedMails = { tenants: new Set(), turns: new Set() };

/** Returns whether a waiting delivery of a lane can be sent. @param crowded tenants and turns that must wait */
export async function hasDueDelivery(store: Store, lane: MailLane, crowded = noneCrowded): Promise<boolean> {
  return (await findTurn(store, store.read, lane, noTurns, crowded)) !== null;
}
