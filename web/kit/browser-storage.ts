type BrowserStorage = 'localStorage' | 'sessionStorage';

/** Reads a text from the browser's storage. @returns null without such a key, or when the browser blocks its storage */
export function readStoredText(storage: BrowserStorage, key: string): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

export function deleteStoredText(storage: BrowserStorage, key: string): void {
  try {
    window[storage].removeItem(key);
  } catch {} // the browser blocks its storage: nothing is stored there
}

/** Saves a text in the browser's storage. Does nothing when the browser blocks its storage, or the storage is full. */
export function saveStoredText(storage: BrowserStorage, key: string, text: string): void {
  try {
    window[storage].setItem(key, text);
  } catch {} // the page works without it
}

/** Returns the keys in the browser's storage. @returns an empty list when the browser blocks its storage */
export function storedKeys(storage: BrowserStorage): readonly string[] {
  try {
    return Object.keys(window[storage]);
  } catch {
    return [];
  }
}
