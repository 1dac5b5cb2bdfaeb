import { statSync } from 'node:fs';
import { startThread } from '#adapters/os/thread.ts';

/** Did the process before end without closing the database? A clean end empties the log. */
export const endedUncleanly = (file: string): boolean => (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Looks for damaged pages in the background, while the database is already in use. */
export interface DamageCheck extends AsyncDisposable {
  /** What the check has found so far; empty: nothing. */
  readonly findings: () => readonly string[];
}

/** @param report called with what was found, once, where something was */
export function checkForDamage(file: string, report: (findings: readonly string[]) => void): DamageCheck {
  let found: readonly string[] = [];
  const thread = startThread('./check-thread', import.meta.url, file);
  thread.unref();
  thread.on('message', (findings: readonly string[]) => {
    found = findings;
    if (findings.length > 0) report(findings);
  });
  thread.on('error', () => {}); // no memory for the check is no damage
  return { findings: () => found, [Symbol.asyncDispose]: async () => void (await thread.terminate()) };
}

/** Where no check is needed. */
export const noCheck: DamageCheck = { findings: () => [], [Symbol.asyncDispose]: async () => {} };
