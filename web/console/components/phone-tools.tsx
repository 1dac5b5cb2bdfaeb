import { Checkbox, NativeSelect } from '@mantine/core';
import { useListState } from './list-state.ts';

interface Props {
  /** Columns that the server can sort by. */
  readonly sorts: readonly { readonly name: string; readonly sort: string }[];
  /** Whether all records of the page are selected. null: records cannot be selected. */
  readonly all: boolean | null;
  readonly selectAll: (on: boolean) => void;
}

/** Sorting and selection on phones, where records are cards without column headings. */
export function PhoneTools({ sorts, all, selectAll }: Props) {
  const { listState, setListState } = useListState();
  const choices = sorts.flatMap(({ name, sort }) => [
    { value: `${sort} asc`, label: `${name}, ascending` },
    { value: `${sort} desc`, label: `${name}, descending` },
  ]);
  const value = listState.sort ? `${listState.sort} ${listState.order ?? 'asc'}` : '';
  return (
    <div className="phone-tools">
      <NativeSelect
        aria-label="Sort by"
        data={[{ value: '', label: 'Default order' }, ...choices]}
        value={value}
        onChange={({ currentTarget }) => {
          const [sort, order] = currentTarget.value.split(' ');
          setListState({ sort: sort || undefined, order: order === 'desc' ? 'desc' : sort ? 'asc' : undefined });
        }}
      />
      {all !== null && (
        <Checkbox label="Select all on this page" checked={all} onChange={({ currentTarget }) => selectAll(currentTarget.checked)} />
      )}
    </div>
  );
}
