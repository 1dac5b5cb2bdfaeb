import type { Visit } from '#core/records/visit.ts';
import { visibleName } from '#core/translations/visible-name.ts';
import { Icon } from '#kit/icons.tsx';
import { folderAddress } from '#visitor/folder-address.ts';
import { addressOf } from '#visitor/link-api.ts';
import type { LinkPermissions } from '#visitor/offered-permissions.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { FileButton, UploadButtons } from '#visitor/upload/upload-buttons.tsx';
import type { FileToUpload } from '#visitor/upload/upload-item.ts';
import type { ListQuery } from './use-folder.ts';
import type { Layout } from './use-layout.ts';

interface Properties {
  readonly share: NonNullable<Visit['share']>;
  readonly can: LinkPermissions;
  readonly path: readonly string[];
  /** The number of entries that match the search; null: not loaded yet. */
  readonly total: number | null;
  readonly listQuery: ListQuery;
  readonly changeQuery: (changes: Partial<ListQuery>) => void;
  /** Uploads files into the folder; null: not offered. */
  readonly onFiles: ((files: readonly FileToUpload[]) => void) | null;
  /** Replaces the shared file, in a share of a single file; null: not offered. */
  readonly replace: ((files: readonly FileToUpload[]) => void) | null;
  readonly newFolder: () => void;
  readonly layout: Layout;
  readonly setLayout: (layout: Layout) => void;
}

function Breadcrumbs({ share, path }: Pick<Properties, 'share' | 'path'>) {
  const { translate } = useTranslation();
  if (path.length === 0) return null;
  return (
    <nav aria-label={translate('folders')} class="crumbs">
      <a href={folderAddress([])}>{visibleName(share.name || share.title)}</a>
      {path.map(visibleName).map((name, index) => (
        <span key={path.slice(0, index + 1).join('/')}>
          <Icon name="right" size={16} />
          {index < path.length - 1 ? <a href={folderAddress(path.slice(0, index + 1))}>{name}</a> : <span aria-current="page">{name}</span>}
        </span>
      ))}
    </nav>
  );
}

const sortOptions = [
  ['name asc', 'sortNameUp'],
  ['name desc', 'sortNameDown'],
  ['modifiedDateTime desc', 'sortNewest'],
  ['modifiedDateTime asc', 'sortOldest'],
  ['size desc', 'sortLargest'],
  ['size asc', 'sortSmallest'],
] as const;

const sortFields = { name: 'name', size: 'size', modifiedDateTime: 'modifiedDateTime' } as const;

function parseSortOption(value: string): Partial<ListQuery> {
  const [field, order] = value.split(' ');
  return { sortField: sortFields[field as keyof typeof sortFields] ?? 'name', sortOrder: order === 'desc' ? 'desc' : 'asc' };
}

/** Switches between the list and the grid. */
function LayoutButton({ layout, setLayout }: Pick<Properties, 'layout' | 'setLayout'>) {
  const { translate } = useTranslation();
  const next = layout === 'list' ? 'grid' : 'list';
  const label = translate(next === 'grid' ? 'showAsGrid' : 'showAsList');
  return (
    <button type="button" class="icon-button" onClick={() => setLayout(next)} title={label}>
      <Icon name={next} />
      <span class="for-reader">{label}</span>
    </button>
  );
}

export function FolderTools({
  share,
  can,
  path,
  total,
  listQuery,
  changeQuery,
  onFiles,
  replace,
  newFolder,
  layout,
  setLayout,
}: Properties) {
  const { translate } = useTranslation();
  return (
    <div class="tools">
      <Breadcrumbs share={share} path={path} />
      {share.folder && (
        <div class="tools-row">
          <input
            class="search"
            type="search"
            placeholder={translate('searchHere')}
            aria-label={translate('searchHere')}
            value={listQuery.searchWord}
            onInput={({ currentTarget }) => changeQuery({ searchWord: currentTarget.value })}
          />
          <select
            aria-label={translate('sortBy')}
            value={`${listQuery.sortField} ${listQuery.sortOrder}`}
            onChange={({ currentTarget }) => changeQuery(parseSortOption(currentTarget.value))}
          >
            {sortOptions.map(([value, messageKey]) => (
              <option key={value} value={value}>
                {translate(messageKey)}
              </option>
            ))}
          </select>
          <span class="tools-actions">
            {can.createFolder && (
              <button type="button" class="button" onClick={newFolder} title={translate('newFolder')}>
                <Icon name="folderPlus" /> <span class="button-text">{translate('newFolder')}</span>
              </button>
            )}
            {can.downloadFolder && total !== 0 && (
              <a class={can.upload ? 'button' : 'button primary'} href={addressOf('zip', path)} download title={translate('allAsZip')}>
                <Icon name="download" /> <span class="button-text">{translate('allAsZip')}</span>
              </a>
            )}
            {onFiles && <UploadButtons onFiles={onFiles} />}
          </span>
        </div>
      )}
      {replace && (
        <FileButton
          icon="upload"
          label={translate('replaceFile')}
          className="button primary"
          onFiles={replace}
          attributes={{ multiple: false }}
        />
      )}
      {share.folder && total !== 0 && (
        <div class="list-head">
          <p class="muted small" role="status">
            {total === null ? '\u00a0' : translate('items', { count: total })}
          </p>
          <LayoutButton layout={layout} setLayout={setLayout} />
        </div>
      )}
    </div>
  );
}
