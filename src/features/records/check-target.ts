import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import type { Caller, Target } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';
import { shareVersion } from './share-version.ts';

/** Returns whether an If-Match list (RFC 9110, section 13.1.1) contains this version or `*`. Accepts versions without quotes. */
function matchesVersion(ifMatch: string, version: number): boolean {
  return ifMatch.split(',').some((tag) => ['*', String(version)].includes(tag.trim().replace(/^"(.*)"$/, '$1')));
}

function readId(body: unknown): number {
  const id: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'id') : undefined;
  if (typeof id === 'number') return id;
  throw new Refusal('fieldInvalid', 'id is required', {
    fieldErrors: [{ field: 'id', detail: 'is required: it is the id of the record' }],
  });
}

/**
 * Checks that the record of a change exists in the caller's tenant and has the version of If-Match.
 * @param ifMatch the header, or undefined to accept any version
 * @throws Refusal (400 without an id, 404, 412); what `target.find` throws
 */
export async function checkTarget(
  tx: Tx,
  target: Target<unknown>,
  body: unknown,
  caller: Caller,
  ifMatch: string | undefined,
): Promise<void> {
  const id = target.find ? await target.find(body, caller, tx) : readId(body);
  const version = target.table === 'share' ? shareVersion : sql<number>`version`;
  const row =
    id === undefined
      ? undefined
      : await tx
          .selectFrom(target.table)
          .select(version.as('version'))
          .where('id', '=', id)
          .where('tid', '=', caller.tid)
          .executeTakeFirst();
  if (!row) throw new Refusal('recordUnknown');
  if (ifMatch !== undefined && !matchesVersion(ifMatch, row.version))
    throw new Refusal('versionStale', `The record is at version "${row.version}".`);
}
