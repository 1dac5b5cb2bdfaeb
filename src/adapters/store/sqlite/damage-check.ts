import { statSync } from 'node:fs';
import { startThread } from '#adapters/os/thread.ts';

/** Returns whether the write-ahead log has content. A clean shutdown empties it; content probably means that the last process crashed. */
export const hasUnfinishedLog = (file: string): boolean => (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** A search for damaged pages, in the background while the database is already in use. */
export interface DamageCheck extends AsyncDisposable {
  /** Returns the damage that was found; empty: none, or the check has not ended or could not run. */
  readonly findings: () => readonly string[];
}

/** Starts the check. @param report called once with the first findings, if there are any */
export function checkForDamage(file: string, report: (findings: readonly string[]) => void): DamageCheck {
  let findings: readonly string[] = [];
  const thread = startThread('./check-thread', import.meta.url, file);
  thread.unref();
  thread.on('message', (newFindings: readonly string[]) => {
    findings = newFindings;
    if (findings.length > 0) report(findings);
  });
  thread.on('error', () => {}); // a check that runs out of memory does not mean damage
  return { findings: () => findings, [Symbol.asyncDispose]: async () => void (await thread.terminate()) };
}

/** The check of a database whose log was empty: it finds nothing. */
export const skippedDamageCheck: DamageCheck = { findings: () => [], [Symbol.asyncDispose]: async () => {} };
