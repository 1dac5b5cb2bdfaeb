import { Refusal } from '#core/messages.ts';
import type { Caller, Target } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';

/** Does an If-Match list (RFC 9110, 13.1.1) name this version? Quotes may be left out, as the field `etag` is read by programs. */
function matches(ifMatch: string, version: number): boolean {
  return ifMatch.split(',').some((tag) => ['*', String(version)].includes(tag.trim().replace(/^"(.*)"$/, '$1')));
}

function idIn(body: unknown): number {
  const id: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'id') : undefined;
  if (typeof id === 'number') return id;
  throw new Refusal('fieldInvalid', 'id is required', { fieldErrors: [{ field: 'id', detail: 'is required: it names the record' }] });
}

/**
 * Is the record that a change is about there, the caller's, and still what the caller saw?
 * @param ifMatch the header, or undefined where every version will do
 * @throws 400 without an id, 404, 412
 */
export async function checkTarget(
  tx: Tx,
  target: Target<unknown>,
  body: unknown,
  caller: Caller,
  ifMatch: string | undefined,
): Promise<void> {
  const id = target.find ? await target.find(body, caller, tx) : idIn(body);
  const row =
    id === undefined
      ? undefined
      : await tx.selectFrom(target.table).select('version').where('id', '=', id).where('tid', '=', caller.tid).executeTakeFirst();
  if (!row) throw new Refusal('recordUnknown');
  if (ifMatch !== undefined && !matches(ifMatch, row.version))
    throw new Refusal('versionStale', `The record is at version "${row.version}".`);
}
