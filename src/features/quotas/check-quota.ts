import { type ItemPath, parseStoredPath, rootPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { Tx } from '#ports/store.ts';
import type { SpaceChange } from './counted-folders.ts';
import { type UsedSpace, usedSpace } from './used-space.ts';

/** The columns of a link that its quotas need. */
export interface QuotaLink {
  readonly tid: number;
  readonly location_id: number;
  /** Path of the share in the location. */
  readonly path: string;
  readonly max_bytes: number | null;
  readonly max_files: number | null;
  readonly location_max_bytes: number | null;
  readonly location_max_files: number | null;
}

/** A limit of what a folder may hold. null: none. */
interface Quota {
  readonly owner: 'share' | 'location';
  readonly path: ItemPath;
  readonly maxBytes: number | null;
  readonly maxFiles: number | null;
}

/** Returns the quotas of a share and of its location. */
function quotasOf(link: QuotaLink): readonly Quota[] {
  const share = { path: parseStoredPath(link.path) ?? rootPath, maxBytes: link.max_bytes, maxFiles: link.max_files };
  const location = { path: rootPath, maxBytes: link.location_max_bytes, maxFiles: link.location_max_files };
  return [{ owner: 'share', ...share } as const, { owner: 'location', ...location } as const].filter(
    ({ maxBytes, maxFiles }) => maxBytes !== null || maxFiles !== null,
  );
}

/** Returns whether the share or its location has a quota. */
export const hasQuota = (link: QuotaLink): boolean => quotasOf(link).length > 0;

// Visitors learn what their share may hold, but nothing about the rest of the location.
const bytesRefusal = ({ owner, maxBytes }: Quota, left: number) =>
  new Refusal(
    'quotaExceeded',
    owner === 'share'
      ? `The share may hold ${maxBytes} bytes, of which ${Math.max(0, left)} are free.`
      : 'The quota of the location has too little space left.',
  );
const filesRefusal = ({ owner, maxFiles }: Quota) =>
  new Refusal('quotaExceeded', owner === 'share' ? `The share may hold ${maxFiles} files.` : 'The quota of the location is used up.');

/**
 * Checks that a claim of an upload fits in the quotas of its share and its location. Must run in the transaction that records the claim,
 * so that two uploads cannot take the same space.
 * @param claim what the upload claims in addition to what is recorded already
 * @param now ms since the epoch
 * @returns how many further bytes fit; Infinity: no quota limits the bytes
 * @throws Refusal (507)
 */
export async function checkQuota(tx: Tx, link: QuotaLink, claim: SpaceChange, now: number): Promise<number> {
  let free = Number.POSITIVE_INFINITY;
  for (const quota of quotasOf(link)) {
    const space: UsedSpace = await usedSpace(tx, { tid: link.tid, locationId: link.location_id, path: quota.path }, now);
    const freeBytes = quota.maxBytes === null ? Number.POSITIVE_INFINITY : quota.maxBytes - space.bytes;
    if (claim.bytes > 0 && claim.bytes > freeBytes) throw bytesRefusal(quota, freeBytes);
    if (quota.maxFiles !== null && claim.files > 0 && space.files + claim.files > quota.maxFiles) throw filesRefusal(quota);
    free = Math.min(free, freeBytes - claim.bytes);
  }
  return free;
}
