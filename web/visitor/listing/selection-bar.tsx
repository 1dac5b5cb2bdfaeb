import { useState } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { addressOf } from '#visitor/link-api.ts';
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

/** Shows the number and the size of the selected entries, and downloads them as one archive. */
export function SelectionBar({ path, listQuery, total, selection, setSelection }: Properties) {
  const { translate, format } = useTranslation();
  const [busy, setBusy] = useState(false);
  if (selection.size === 0) return null;
  const bytes = [...selection.values()].reduce((sum, size) => sum + size, 0);
  const isWholeFolder = listQuery.searchWord === '' && selection.size === total;
  const names = isWholeFolder ? '' : `?${new URLSearchParams([...selection.keys()].map((name) => ['name', name]))}`;
  async function selectAll() {
    setBusy(true);
    const all = await fetchAllEntries(path, listQuery).catch(() => []);
    setBusy(false);
    if (all.length > 0) setSelection(new Map(all.map(({ name, size }) => [name, size])));
  }
  return (
    <section class="selection-bar" aria-label={translate('selectedCount', { count: selection.size })}>
      <span role="status">
        {translate('selectedCount', { count: selection.size })}
        {bytes > 0 && <span class="quiet small"> {format.size(bytes)}</span>}
      </span>
      <button type="button" class="link-button" onClick={() => setSelection(new Map())}>
        {translate('clearSelection')}
      </button>
      {selection.size < total && (
        <button type="button" class="link-button" onClick={() => void selectAll()} aria-disabled={busy}>
          {translate(busy ? 'loading' : 'selectAll')}
        </button>
      )}
      {names.length <= maxQueryLength ? (
        <a class="button primary" href={addressOf('zip', path) + names} download>
          <Icon name="download" /> {translate('downloadZip')}
        </a>
      ) : (
        <span class="quiet small">{translate('selectFewer')}</span>
      )}
    </section>
  );
}
