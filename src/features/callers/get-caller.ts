import Type from 'typebox';
import { CallerRecord } from '#core/records/operator.ts';
import { type Caller, readOperation } from '#features/operation.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

/** Returns whether an operator is connected to a user of the provider. */
async function isLinked(db: Tx, id: number): Promise<boolean> {
  const operator = await db.selectFrom('operator').select('provider_subject').where('id', '=', id).executeTakeFirst();
  return (operator?.provider_subject ?? null) !== null;
}

/** Returns the record of the caller, for caller/get and for a sign-in to the console. */
export async function callerRecord(caller: Caller, { store, links }: Pick<Ports, 'store' | 'links'>): Promise<CallerRecord> {
  const { title } = await store.read.selectFrom('tenant').select('title').where('id', '=', caller.tid).executeTakeFirstOrThrow();
  const { id, name, kind, role, tid, address, byProvider, lacksSecondFactor } = caller;
  const signsInAtProvider = kind === 'operator' && (await isLinked(store.read, id));
  const installation = { tenantTitle: title, publicUrl: links.publicUrl() };
  return { id, name, kind, role, tid, address, byProvider, signsInAtProvider, lacksSecondFactor, ...installation };
}

export const getCaller = readOperation({
  name: 'caller/get',
  method: 'GET',
  role: 'reader',
  withoutSecondFactor: true,
  summary: 'Returns the caller: the key or operator, its role and tenant, and the address of the request.',
  body: Type.Object({}, { additionalProperties: false }),
  response: CallerRecord,
  read: (_query, caller, ports) => callerRecord(caller, ports),
});
