import type { TestPostern } from '../start.ts';

/** Adds copies of a share in one transaction, with the titles `<title> 0000`, `<title> 0001` and so on. */
export async function copyShare(postern: TestPostern, id: number, count: number): Promise<void> {
  await postern.ports.store.write(async (tx) => {
    const { id: _, view_id, title, ...columns } = await tx.selectFrom('share').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const copies = Array.from({ length: count }, (_copy, index) => ({
      ...columns,
      view_id: `${view_id}-${index}`,
      title: `${title} ${String(index).padStart(4, '0')}`,
    }));
    for (let begin = 0; begin < copies.length; begin += 100)
      await tx
        .insertInto('share')
        .values(copies.slice(begin, begin + 100))
        .execute();
  }, 'job');
}
