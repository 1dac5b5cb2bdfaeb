import { Button, Pagination, Skeleton, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback, useHotkeys } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { asProblem, type Page, type Query } from '#console/api/call.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import type { BulkAction } from './bulk.ts';
import { BulkBar } from './bulk-bar.tsx';
import { formatCount, type Noun } from './format.ts';
import { useListState } from './list-state.ts';
import { PhoneTools } from './phone-tools.tsx';
import { type Column, changeSelection, RecordTable, type Row } from './record-table.tsx';

const pageSize = 50;

interface Props<T extends Row> {
  /** First part of the query key: the kind of the records. A change of records of this kind reloads the list. */
  readonly kind: string;
  readonly noun: Noun;
  readonly columns: readonly Column<T>[];
  readonly load: (query: Query, signal: AbortSignal) => Promise<Page<T>>;
  /** The parameters of the filters, without the search word. */
  readonly query?: Query;
  readonly filters?: ReactNode;
  readonly actions?: readonly BulkAction<T>[];
  readonly nameOf: (record: T) => string;
  /** Shown while no record exists. */
  readonly empty: ReactNode;
  readonly searchLabel: string;
}

/** A list of records. The server searches, filters, sorts and pages it. */
export function RecordList<T extends Row>(props: Props<T>) {
  const { kind, columns, load, query = {}, filters, actions = [], nameOf, empty, searchLabel, noun } = props;
  const { listState, setListState } = useListState();
  const [selected, setSelected] = useState<ReadonlyMap<number, T>>(new Map());
  const page = listState.page ?? 1;
  const listQuery: Query = {
    ...query,
    searchWord: listState.q,
    startIndex: (page - 1) * pageSize,
    pageSize,
    sortField: listState.sort,
    sortOrder: listState.order,
  };
  const result = useQuery({
    queryKey: [kind, 'list', listQuery],
    queryFn: ({ signal }) => load(listQuery, signal),
    placeholderData: keepPreviousData,
  });
  const { data, error, refetch } = result;
  const isFiltered = listState.q !== undefined || Object.values(query).some((value) => value !== undefined);
  useEffect(() => {
    if (data && data.list.length === 0 && data.totalCount > 0 && page > 1 && !result.isPlaceholderData)
      setListState({ page: Math.ceil(data.totalCount / pageSize) }, { replace: true });
  });
  // Clear the selection with every new filter, so that no action changes a record that the filter excludes.
  // A change of the page keeps it.
  const filter = JSON.stringify([query, listState.q]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new filter clears the selection
  useEffect(() => setSelected(new Map()), [filter]);
  if (data?.totalCount === 0 && !isFiltered && !result.isPlaceholderData) return empty;
  const pages = Math.max(1, Math.ceil((data?.totalCount ?? 0) / pageSize));
  return (
    <>
      <div className="list-tools">
        <SearchField label={searchLabel} />
        {filters}
      </div>
      <Text fz="xs" c="dimmed" role="status" className="list-count">
        {data ? formatCount(data.totalCount, ...noun) : error ? '' : 'Loading…'}
      </Text>
      {error && !result.isFetching && <LoadError error={asProblem(error)} reset={() => void refetch()} />}
      {data === undefined && !error && <Skeletons />}
      {data && data.list.length > 0 && (
        <PhoneTools
          sorts={columns.flatMap(({ name, sort }) => (sort === undefined ? [] : [{ name, sort }]))}
          all={actions.length === 0 ? null : data.list.every(({ id }) => selected.has(id))}
          selectAll={(isOn) => setSelected(changeSelection(selected, data.list, isOn))}
        />
      )}
      {data && data.list.length > 0 && (
        <RecordTable
          columns={columns}
          records={data.list}
          nameOf={nameOf}
          selected={actions.length > 0 ? selected : null}
          onSelect={setSelected}
          stale={result.isPlaceholderData}
        />
      )}
      {data?.list.length === 0 && <NoResults />}
      {pages > 1 && (
        <Pagination
          className="list-pages"
          total={pages}
          value={page}
          onChange={(next) => setListState({ page: next })}
          getControlProps={(control) => ({ 'aria-label': pageButtonLabels[control] })}
          getItemProps={(item) => ({ 'aria-label': `Page ${item}` })}
        />
      )}
      <BulkBar kind={kind} noun={noun} actions={actions} selected={selected} nameOf={nameOf} clear={() => setSelected(new Map())} />
    </>
  );
}

const pageButtonLabels = { first: 'First page', previous: 'Previous page', next: 'Next page', last: 'Last page' } as const;

function SearchField({ label }: { label: string }) {
  const { listState, setListState } = useListState();
  const [word, setWord] = useState(listState.q ?? '');
  const field = useRef<HTMLInputElement>(null);
  const search = useDebouncedCallback((q: string) => setListState({ q: q.trim() || undefined }, { replace: true }), 200);
  useHotkeys([['/', () => field.current?.focus()]]);
  // When the search word changes outside of this field (Back, Clear filters), show the new word. A focused field keeps its text.
  useEffect(() => {
    if (field.current !== document.activeElement) setWord(listState.q ?? '');
  }, [listState.q]);
  return (
    <TextInput
      ref={field}
      type="search"
      className="list-search"
      aria-label={label}
      placeholder={label}
      leftSection={<Search size={16} aria-hidden />}
      value={word}
      onChange={({ currentTarget }) => {
        setWord(currentTarget.value);
        search(currentTarget.value);
      }}
    />
  );
}

/** Placeholders while a list loads. CSS shows them only after 200 ms, so that fast lists do not flicker. */
const Skeletons = () => (
  <div className="skeletons" aria-hidden>
    {Array.from({ length: 8 }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
      <Skeleton key={index} height={44} radius="sm" />
    ))}
  </div>
);

function NoResults() {
  const { setListState } = useListState();
  const clear = () =>
    setListState({
      q: undefined,
      state: undefined,
      profile: undefined,
      location: undefined,
      active: undefined,
      share: undefined,
      who: undefined,
      action: undefined,
      outcome: undefined,
      from: undefined,
      to: undefined,
    });
  return (
    <div className="no-results">
      <Text>No results found.</Text>
      <Button variant="default" onClick={clear}>
        Clear filters
      </Button>
    </div>
  );
}
