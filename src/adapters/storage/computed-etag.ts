const youngTime = 2000; // ms: times are in whole seconds, so a file that has just changed can change again and keep its time

/** Computes an ETag from the size and time of a file whose server sends none. @param now ms since the epoch */
export function computedEtag(size: number, modified: number, now: number): string {
  const text = `"${size.toString(36)}-${Math.floor(modified / 1000).toString(36)}"`;
  return now - modified < youngTime ? `W/${text}` : text;
}

/** Returns whether two ETags name the same version. Ignores weakness: a computed ETag is weak while the file is young. */
export const isSameVersion = (one: string, other: string): boolean => one.replace(/^W\//, '') === other.replace(/^W\//, '');
