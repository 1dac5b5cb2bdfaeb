import { readStoredText, saveStoredText } from '#kit/browser-storage.ts';

/** A link to the portal from which a share was opened. */
export interface PortalLink {
  readonly href: string;
  readonly title: string;
}

const storageKey = (path: string) => `portal of ${path}`;

/** Remembers, for this tab, that a share is opened from the current portal. */
export function rememberPortal(shareUrl: string, title: string): void {
  saveStoredText('sessionStorage', storageKey(new URL(shareUrl).pathname), `${location.pathname}\n${title}`);
}

/** Returns the portal from which this tab opened the current share, or null. */
export function recallPortal(): PortalLink | null {
  const [href, ...title] = readStoredText('sessionStorage', storageKey(location.pathname))?.split('\n') ?? [];
  return href?.startsWith('/p/') ? { href, title: title.join('\n') } : null;
}
