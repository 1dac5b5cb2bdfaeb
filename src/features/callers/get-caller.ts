import Type from 'typebox';
import { WhoCalls } from '#core/records/operator.ts';
import { type Caller, read } from '#features/operation.ts';
import type { Ports } from '#ports/ports.ts';

/** Returns the record of the caller, for caller/get and for a sign-in to the console. */
export async function whoCalls(caller: Caller, { store, links }: Pick<Ports, 'store' | 'links'>): Promise<WhoCalls> {
  const { title } = await store.read.selectFrom('tenant').select('title').where('id', '=', caller.tid).executeTakeFirstOrThrow();
  const { id, name, kind, role, tid, address } = caller;
  return { id, name, kind, role, tid, tenantTitle: title, address, publicUrl: links.publicUrl() };
}

export const getCaller = read({
  name: 'caller/get',
  method: 'GET',
  role: 'reader',
  summary: 'Says who calls: the key or operator, its role and tenant, and the address that the call came from.',
  body: Type.Object({}, { additionalProperties: false }),
  response: WhoCalls,
  read: (_query, caller, ports) => whoCalls(caller, ports),
});
