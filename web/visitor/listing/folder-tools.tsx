import type { Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { addressOfFolder } from '#visitor/folder-address.ts';
import { addressOf } from '#visitor/link-api.ts';
import type { Can } from '#visitor/offered.ts';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { Choose, UploadButtons } from '#visitor/upload/upload-buttons.tsx';
import type { Upload } from '#visitor/upload/uploads.ts';
import type { Wanted } from './use-folder.ts';

interface Properties {
  readonly share: NonNullable<Visit['share']>;
  readonly can: Can;
  readonly path: readonly string[];
  /** How many it holds; null: not known yet. */
  readonly total: number | null;
  readonly wanted: Wanted;
  readonly want: (over: Partial<Wanted>) => void;
  readonly take: ((files: readonly Upload[]) => void) | null;
  /** Puts another file in the place of the one that is shared; null: that is not allowed. */
  readonly replace: ((files: readonly Upload[]) => void) | null;
  readonly newFolder: () => void;
}

function Breadcrumbs({ share, path }: Pick<Properties, 'share' | 'path'>) {
  const { say } = useSpeech();
  if (path.length === 0) return null;
  return (
    <nav aria-label={say('folders')} class="crumbs">
      <a href={addressOfFolder([])}>{share.name || share.title}</a>
      {path.map((name, index) => (
        <span key={path.slice(0, index + 1).join('/')}>
          <Icon name="right" size={16} />
          {index < path.length - 1 ? (
            <a href={addressOfFolder(path.slice(0, index + 1))}>{name}</a>
          ) : (
            <span aria-current="page">{name}</span>
          )}
        </span>
      ))}
    </nav>
  );
}

const orders = [
  ['name asc', 'sortNameUp'],
  ['name desc', 'sortNameDown'],
  ['modifiedDateTime desc', 'sortNewest'],
  ['modifiedDateTime asc', 'sortOldest'],
  ['size desc', 'sortLargest'],
  ['size asc', 'sortSmallest'],
] as const;

const fields = { name: 'name', size: 'size', modifiedDateTime: 'modifiedDateTime' } as const;

function readOrder(value: string): Partial<Wanted> {
  const [field, order] = value.split(' ');
  return { sortField: fields[field as keyof typeof fields] ?? 'name', sortOrder: order === 'desc' ? 'desc' : 'asc' };
}

/** Where one is, how it is sorted, and what can be done with the whole folder. */
export function FolderTools({ share, can, path, total, wanted, want, take, replace, newFolder }: Properties) {
  const { say } = useSpeech();
  return (
    <div class="tools">
      <Breadcrumbs share={share} path={path} />
      {share.folder && (
        <div class="tools-row">
          <input
            class="search"
            type="search"
            placeholder={say('searchHere')}
            aria-label={say('searchHere')}
            value={wanted.searchWord}
            onInput={({ currentTarget }) => want({ searchWord: currentTarget.value })}
          />
          <select
            aria-label={say('sortBy')}
            value={`${wanted.sortField} ${wanted.sortOrder}`}
            onChange={({ currentTarget }) => want(readOrder(currentTarget.value))}
          >
            {orders.map(([value, words]) => (
              <option key={value} value={value}>
                {say(words)}
              </option>
            ))}
          </select>
          <span class="tools-actions">
            {can.createFolder && (
              <button type="button" class="button" onClick={newFolder} title={say('newFolder')}>
                <Icon name="folderPlus" /> <span class="words">{say('newFolder')}</span>
              </button>
            )}
            {can.downloadFolder && total !== 0 && (
              <a class={can.upload ? 'button' : 'button primary'} href={addressOf('zip', path)} download title={say('allAsZip')}>
                <Icon name="download" /> <span class="words">{say('allAsZip')}</span>
              </a>
            )}
            {take && <UploadButtons take={take} />}
          </span>
        </div>
      )}
      {replace && <Choose icon="upload" words={say('replaceFile')} className="button primary" take={replace} more={{ multiple: false }} />}
      {share.folder && total !== 0 && (
        <p class="quiet small" role="status">
          {total === null ? '\u00a0' : say('items', { count: total })}
        </p>
      )}
    </div>
  );
}
