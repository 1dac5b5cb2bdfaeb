type Memory = 'localStorage' | 'sessionStorage';

/** What the browser keeps under a key; null: nothing, or it was told to keep nothing and refuses to be asked. */
export function recall(memory: Memory, key: string): string | null {
  try {
    return window[memory].getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a text where the browser keeps anything. */
export function keep(memory: Memory, key: string, text: string): void {
  try {
    window[memory].setItem(key, text);
  } catch {} // the page works without it
}
