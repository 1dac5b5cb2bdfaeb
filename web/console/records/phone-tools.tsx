import { Checkbox, NativeSelect } from '@mantine/core';
import { useListState } from './list-state.ts';

interface Props {
  /** Columns that the server sorts by. */
  readonly sorts: readonly { readonly name: string; readonly sort: string }[];
  /** Are all of the page chosen? null: none can be. */
  readonly all: boolean | null;
  readonly selectAll: (on: boolean) => void;
}

/** What the heads of columns do, where records are cards and have no heads. */
export function PhoneTools({ sorts, all, selectAll: chooseAll }: Props) {
  const { shown, show } = useListState();
  const choices = sorts.flatMap(({ name, sort }) => [
    { value: `${sort} asc`, label: `${name}, first to last` },
    { value: `${sort} desc`, label: `${name}, last to first` },
  ]);
  const value = shown.sort ? `${shown.sort} ${shown.order ?? 'asc'}` : '';
  return (
    <div className="phone-tools">
      <NativeSelect
        aria-label="Order"
        data={[{ value: '', label: 'As they were made' }, ...choices]}
        value={value}
        onChange={({ currentTarget }) => {
          const [sort, order] = currentTarget.value.split(' ');
          show({ sort: sort || undefined, order: order === 'desc' ? 'desc' : sort ? 'asc' : undefined });
        }}
      />
      {all !== null && <Checkbox label="All" checked={all} onChange={({ currentTarget }) => chooseAll(currentTarget.checked)} />}
    </div>
  );
}
