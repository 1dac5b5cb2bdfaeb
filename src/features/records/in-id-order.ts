/** Returns the records in the order of the ids. Skips ids without a record. */
export function inIdOrder<T extends { readonly id: number }>(ids: readonly number[], records: readonly T[]): T[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
