import { keep, recall } from '#kit/browser-memory.ts';

/** The portal that a share was opened from. */
export interface WayBack {
  readonly href: string;
  readonly title: string;
}

const keyOf = (path: string) => `portal of ${path}`;

/** Keeps, for this tab, that a share is opened from the portal that is shown. */
export function keepWayBack(shareUrl: string, title: string): void {
  const way: WayBack = { href: location.pathname, title };
  keep('sessionStorage', keyOf(new URL(shareUrl).pathname), JSON.stringify(way));
}

/** The portal that this tab opened the share from that is shown; null: from none. */
export function wayBack(): WayBack | null {
  const kept = recall('sessionStorage', keyOf(location.pathname));
  return kept === null ? null : JSON.parse(kept);
}
