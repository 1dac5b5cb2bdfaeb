import { identityKey } from '#features/audit/identity-key.ts';
import type { VisitorCounts } from '#features/audit/visitor-counts.ts';
import type { Tx } from '#ports/store.ts';

/** A name that a share lists. */
interface ListedName {
  readonly name: string;
  /** null: the list holds a plain name, which refers to no user. */
  readonly userId: number | null;
}

/** The names that a share lists, and which of them have visited it. */
export interface ListedVisitors {
  add(visitor: Pick<VisitorCounts, 'visitor' | 'identityKey'>): void;
  /** Returns the names that have not visited the share, in the order of the list. */
  notVisited(): string[];
}

/** An earlier version wrote the entries of signed-in visitors without an identity: only the visitor's name is known. */
const unidentifiedKey = (name: string) => `unidentified ${name}`;
const nameKey = (name: string) => `named ${name}`;

/**
 * Returns an object that records which listed names have visited the share. A listed user counts only if the identity matches: another
 * visitor may have the same name. A plain name, and a visit without an identity, count by the name.
 */
export function listedVisitors(profile: { readonly id: number; readonly typeId: number }, list: readonly ListedName[]): ListedVisitors {
  const nameOf = new Map<string, string>();
  for (const { name, userId } of list) {
    const keys = userId === null ? [nameKey(name)] : [identityKey(profile, String(userId)), unidentifiedKey(name)];
    for (const key of keys) nameOf.set(key, name);
  }
  const visitors = new Set<string>();
  return {
    add({ visitor, identityKey: visitorKey }) {
      for (const key of [visitorKey ?? unidentifiedKey(visitor), nameKey(visitor)]) {
        const name = nameOf.get(key);
        if (name !== undefined) visitors.add(name);
      }
    },
    notVisited: () => list.map(({ name }) => name).filter((name) => !visitors.has(name)),
  };
}

/** Returns the names that a share lists, or null if the share does not exist. */
export async function readListedVisitors(db: Tx, tid: number, shareId: number): Promise<ListedVisitors | null> {
  const share = await db
    .selectFrom('share')
    .innerJoin('login_profile as profile', (join) =>
      join.onRef('profile.tid', '=', 'share.tid').onRef('profile.id', '=', 'share.profile_id'),
    )
    .select(['profile.id', 'profile.type_id as typeId'])
    .where('share.tid', '=', tid)
    .where('share.id', '=', shareId)
    .executeTakeFirst();
  if (!share) return null;
  const list = await db
    .selectFrom('share_user')
    .select(['name', 'user_id as userId'])
    .where('tid', '=', tid)
    .where('share_id', '=', shareId)
    .orderBy('position')
    .execute();
  return listedVisitors(share, list);
}
