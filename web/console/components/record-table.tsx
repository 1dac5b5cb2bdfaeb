import { Checkbox, UnstyledButton } from '@mantine/core';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { useListState } from './list-state.ts';

/** Fields of a record in a list. Only `id` is in every record. */
export interface Row {
  readonly id: number;
  readonly etag?: string;
}

/** One column: its heading, its sort field and its cells. */
export interface Column<T> {
  readonly name: string;
  /** Field by which the server sorts. Absent: the column cannot be sorted. */
  readonly sort?: string;
  readonly cell: (record: T) => ReactNode;
}

interface Props<T extends Row> {
  readonly columns: readonly Column<T>[];
  readonly records: readonly T[];
  readonly nameOf: (record: T) => string;
  /** The selected records by id. null: records cannot be selected. */
  readonly selected: ReadonlyMap<number, T> | null;
  readonly onSelect: (selected: ReadonlyMap<number, T>) => void;
  /** true: `records` are the results of the previous query, and those of the current query are loading. */
  readonly stale: boolean;
}

/** Returns a selection with records added or removed. Records of other pages stay selected. */
export function changeSelection<T extends Row>(
  selected: ReadonlyMap<number, T> | null,
  records: readonly T[],
  isOn: boolean,
): Map<number, T> {
  const changed = new Map(selected);
  for (const record of records) isOn ? changed.set(record.id, record) : changed.delete(record.id);
  return changed;
}

/** Shows records as rows of a table. On phones each row is a card with the names of its columns. */
export function RecordTable<T extends Row>({ columns, records, nameOf, selected, onSelect, stale }: Props<T>) {
  const all = selected !== null && records.every(({ id }) => selected.has(id));
  const some = selected !== null && records.some(({ id }) => selected.has(id));
  const set = (changed: readonly T[], isOn: boolean) => onSelect(changeSelection(selected, changed, isOn));
  return (
    // Explicit roles: CSS that shows the table as cards would remove the implicit ones.
    <table role="table" className="records" data-stale={stale || undefined}>
      <thead role="rowgroup">
        <tr role="row">
          {selected && (
            <th role="columnheader" className="record-box">
              <Checkbox
                aria-label="Select all on this page"
                checked={all}
                indeterminate={some && !all}
                onChange={({ currentTarget }) => set(records, currentTarget.checked)}
              />
            </th>
          )}
          {columns.map((column) => (
            <Heading key={column.name} column={column} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {records.map((record) => (
          <tr role="row" key={record.id} data-selected={selected?.has(record.id) || undefined}>
            {selected && (
              <td role="cell" className="record-box">
                <Checkbox
                  aria-label={`Select ${nameOf(record)}`}
                  checked={selected.has(record.id)}
                  onChange={({ currentTarget }) => set([record], currentTarget.checked)}
                />
              </td>
            )}
            {columns.map(({ name, cell }) => (
              <td role="cell" key={name} data-name={name}>
                {cell(record)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Heading<T>({ column: { name, sort } }: { column: Column<T> }) {
  const { listState, setListState } = useListState();
  if (sort === undefined) return <th role="columnheader">{name}</th>;
  const order = listState.sort === sort ? (listState.order ?? 'asc') : undefined;
  const Arrow = order === 'desc' ? ArrowDown : ArrowUp;
  return (
    <th role="columnheader" aria-sort={order === undefined ? 'none' : order === 'asc' ? 'ascending' : 'descending'}>
      <UnstyledButton className="heading" onClick={() => setListState({ sort, order: order === 'asc' ? 'desc' : 'asc' })}>
        {name}
        {order && <Arrow size={14} aria-hidden />}
      </UnstyledButton>
    </th>
  );
}
