import type { CallerRecord } from '#core/records/operator.ts';
import { secretKeys } from '#core/records/profile-configuration.ts';

const prefix = 'postern-draft';

/** Passwords and the like are not left lying in the browser. */
const isSecret = (name: string) => name === 'password' || name === 'linkPassword' || secretKeys.includes(name);

/** Where a draft is kept: in this tab, for this operator alone. */
export const draftKey = ({ tid, id }: CallerRecord, name: string) => `${prefix} ${tid} ${id} ${name}`;

/** Keeps what differs from what the form began with. */
export function saveDraft(key: string, initial: Readonly<Record<string, unknown>>, values: Readonly<Record<string, unknown>>): void {
  const changed = Object.entries(values).filter(
    ([name, value]) => !isSecret(name) && JSON.stringify(value) !== JSON.stringify(initial[name]),
  );
  if (changed.length > 0) sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(changed)));
  else sessionStorage.removeItem(key);
}

export const deleteDraft = (key: string) => sessionStorage.removeItem(key);

/** What was typed before, laid over what the form begins with now: what others have saved meanwhile stays. null: nothing */
export function readDraft<V extends Record<string, unknown>>(key: string, initial: V): V | null {
  const stored = sessionStorage.getItem(key);
  if (stored === null) return null;
  const values: Record<string, unknown> = JSON.parse(stored);
  // Only what still has a field of the same kind: the form may have changed since.
  const usable = Object.entries(values).filter(([name, value]) => name in initial && typeof value === typeof initial[name]);
  return usable.length === 0 ? null : { ...initial, ...Object.fromEntries(usable) };
}

/** Whoever signs out leaves nothing to the next. */
export function deleteAllDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
}
