import { Checkbox, UnstyledButton } from '@mantine/core';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { useListState } from './list-state.ts';

/** What every record of a list has. */
export interface Row {
  readonly id: number;
  readonly etag?: string;
}

/** One column: how it is headed, sorted by the server, and shown. */
export interface Column<T> {
  readonly name: string;
  /** Field that the server sorts by; absent: it does not. */
  readonly sort?: string;
  readonly cell: (record: T) => ReactNode;
}

interface Props<T extends Row> {
  readonly columns: readonly Column<T>[];
  readonly records: readonly T[];
  readonly nameOf: (record: T) => string;
  /** null: none can be chosen. */
  readonly selected: ReadonlyMap<number, T> | null;
  readonly onSelect: (chosen: ReadonlyMap<number, T>) => void;
  /** What is shown is of the page before. */
  readonly stale: boolean;
}

/** Records as rows; on a phone each row is a card with its columns' names. */
export function RecordTable<T extends Row>({ columns, records, nameOf, selected: chosen, onSelect: choose, stale }: Props<T>) {
  const all = chosen !== null && records.every(({ id }) => chosen.has(id));
  const some = chosen !== null && records.some(({ id }) => chosen.has(id));
  const set = (of: readonly T[], on: boolean) => {
    const next = new Map(chosen);
    for (const record of of) on ? next.set(record.id, record) : next.delete(record.id);
    choose(next);
  };
  return (
    // The roles are said since a table that is shown as cards would lose them.
    <table role="table" className="records" data-stale={stale || undefined}>
      <thead role="rowgroup">
        <tr role="row">
          {chosen && (
            <th role="columnheader" className="record-box">
              <Checkbox
                aria-label="Choose all of this page"
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
          <tr role="row" key={record.id} data-chosen={chosen?.has(record.id) || undefined}>
            {chosen && (
              <td role="cell" className="record-box">
                <Checkbox
                  aria-label={`Choose ${nameOf(record)}`}
                  checked={chosen.has(record.id)}
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
  const { shown, show } = useListState();
  if (sort === undefined) return <th role="columnheader">{name}</th>;
  const order = shown.sort === sort ? (shown.order ?? 'asc') : undefined;
  const Arrow = order === 'desc' ? ArrowDown : ArrowUp;
  return (
    <th role="columnheader" aria-sort={order === undefined ? 'none' : order === 'asc' ? 'ascending' : 'descending'}>
      <UnstyledButton className="heading" onClick={() => show({ sort, order: order === 'asc' ? 'desc' : 'asc' })}>
        {name}
        {order && <Arrow size={14} aria-hidden />}
      </UnstyledButton>
    </th>
  );
}
