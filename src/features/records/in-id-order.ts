/** Records in the order of their ids, as a page of a search lists them; ids without a record are left out. */
export function inIdOrder<T extends { readonly id: number }>(ids: readonly number[], records: readonly T[]): T[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
