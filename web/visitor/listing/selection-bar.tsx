import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { addressOf, asFailure, type Failure } from '#visitor/link-api.ts';
import { useReportFailure } from '#visitor/report-failure.ts';
import { describeFailure } from '#visitor/translations/sentences.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { fetchAllEntries, type ListQuery } from './use-folder.ts';

const maxQueryLength = 12_000; // characters: servers accept about 16 KiB of headers

interface Properties {
  readonly path: readonly string[];
  readonly listQuery: ListQuery;
  /** The number of entries that match the query. */
  readonly total: number;
  /** The sizes of the selected entries, by name. */
  readonly selection: ReadonlyMap<string, number>;
  readonly setSelection: (selection: ReadonlyMap<string, number>) => void;
}

/** Returns a function that selects all entries that match the query. Also returns whether it is running, and why its last run failed. */
function useSelectAll({ path, listQuery, selection, setSelection }: Properties) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const reportFailure = useReportFailure();
  const key = JSON.stringify([path, listQuery.searchWord]);
  const currentKey = useRef(key);
  currentKey.current = key;
  useEffect(() => setFailure(null), [selection]);
  async function selectAll() {
    setBusy(true);
    setFailure(null);
    try {
      const all = await fetchAllEntries(path, listQuery);
      // The visitor may have opened another folder meanwhile, or changed the search.
      if (currentKey.current === key) setSelection(new Map(all.map(({ name, size }) => [name, size])));
    } catch (cause) {
      if (currentKey.current === key) setFailure(asFailure(cause));
      reportFailure(cause);
    }
    setBusy(false);
  }
  return { selectAll, busy, failure };
}

/** Shows the number of the selected entries and the size of the selected files, and offers the entries as one archive. */
export function SelectionBar(properties: Properties) {
  const { path, listQuery, total, selection, setSelection } = properties;
  const translation = useTranslation();
  const { translate, format } = translation;
  const { selectAll, busy, failure } = useSelectAll(properties);
  if (selection.size === 0) return null;
  const bytes = [...selection.values()].reduce((sum, size) => sum + size, 0);
  const isWholeFolder = listQuery.searchWord === '' && selection.size === total;
  const names = isWholeFolder ? '' : `?${new URLSearchParams([...selection.keys()].map((name) => ['name', name]))}`;
  return (
    <section class="selection-bar" aria-label={translate('selectedCount', { count: selection.size })}>
      <span role="status">
        {translate('selectedCount', { count: selection.size })}
        {bytes > 0 && <span class="muted small"> {format.size(bytes)}</span>}
      </span>
      <button type="button" class="link-button" onClick={() => setSelection(new Map())}>
        {translate('clearSelection')}
      </button>
      {selection.size < total && (
        <button type="button" class="link-button" onClick={() => void selectAll()} aria-disabled={busy}>
          {translate(busy ? 'loading' : 'selectAll')}
        </button>
      )}
      <span class="problem" role="alert">
        {failure && describeFailure(failure, translation).title}
      </span>
      {names.length <= maxQueryLength ? (
        <a class="button primary" href={addressOf('zip', path) + names} download>
          <Icon name="download" /> {translate('downloadZip')}
        </a>
      ) : (
        <span class="muted small">{translate('selectFewer')}</span>
      )}
    </section>
  );
}
