import { keep, recall } from '#kit/browser-memory.ts';

/** The portal that a share was opened from. */
export interface WayBack {
  readonly href: string;
  readonly title: string;
}

const keyOf = (path: string) => `portal of ${path}`;

/** Keeps, for this tab, that a share is opened from the portal that is shown. */
export function keepWayBack(shareUrl: string, title: string): void {
  keep('sessionStorage', keyOf(new URL(shareUrl).pathname), `${location.pathname}\n${title}`);
}

/** The portal that this tab opened the share from that is shown; null: from none. */
export function wayBack(): WayBack | null {
  const [href, ...title] = recall('sessionStorage', keyOf(location.pathname))?.split('\n') ?? [];
  return href?.startsWith('/p/') ? { href, title: title.join('\n') } : null;
}
