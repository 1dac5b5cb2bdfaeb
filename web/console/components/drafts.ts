import { locationSecrets } from '#core/records/location-configurations.ts';
import type { CallerRecord } from '#core/records/operator.ts';
import { profileSecrets } from '#core/records/profile-configuration.ts';
import { deleteStoredText, readStoredText, saveStoredText, storedKeys } from '#kit/browser-storage.ts';

const prefix = 'postern-draft';

/** Returns whether a field holds a secret. Secrets are never stored in the browser. */
const isSecret = (name: string) => ['password', 'linkPassword', ...profileSecrets, ...locationSecrets].includes(name);

/** Returns the session storage key of a draft. Each operator has separate drafts. */
export const draftKey = ({ tid, id }: CallerRecord, name: string) => `${prefix} ${tid} ${id} ${name}`;

/** Stores the fields that differ from the initial values, except secrets. Deletes the draft if no such field is left. */
export function saveDraft(key: string, initial: Readonly<Record<string, unknown>>, values: Readonly<Record<string, unknown>>): void {
  const changedFields = Object.entries(values).filter(
    ([name, value]) => !isSecret(name) && JSON.stringify(value) !== JSON.stringify(initial[name]),
  );
  if (changedFields.length > 0) saveStoredText('sessionStorage', key, JSON.stringify(Object.fromEntries(changedFields)));
  else deleteStoredText('sessionStorage', key);
}

export const deleteDraft = (key: string) => deleteStoredText('sessionStorage', key);

/** A number field without a value holds an empty string. */
const isNumberField = (value: unknown) => value === '' || typeof value === 'number';
const haveSameType = (a: unknown, b: unknown) => typeof a === typeof b || (isNumberField(a) && isNumberField(b));

/**
 * Returns the initial values with the fields of the draft, or null if there is no draft that can be used. A field of the draft replaces
 * the saved value, even if another operator has changed that value in the meantime. The form shows the field as changed.
 */
export function readDraft<V extends Record<string, unknown>>(key: string, initial: V): V | null {
  const stored = readStoredText('sessionStorage', key);
  if (stored === null) return null;
  const values: Record<string, unknown> = JSON.parse(stored);
  // Use only fields that still exist with the same type: the form may have changed since.
  const usable = Object.entries(values).filter(([name, value]) => name in initial && haveSameType(value, initial[name]));
  return usable.length === 0 ? null : { ...initial, ...Object.fromEntries(usable) };
}

/** Deletes all drafts of this tab at sign-out, so that the next user of the tab cannot read them with the developer tools. */
export function deleteAllDrafts(): void {
  for (const key of storedKeys('sessionStorage')) if (key.startsWith(prefix)) deleteStoredText('sessionStorage', key);
}
