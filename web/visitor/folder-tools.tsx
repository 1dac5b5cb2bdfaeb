import type { Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { ChooseFiles } from './drop-target.tsx';
import { addressOfFolder } from './folder-address.ts';
import { addressOf } from './link-api.ts';
import type { Wanted } from './use-folder.ts';

interface Properties {
  readonly share: NonNullable<Visit['share']>;
  readonly path: readonly string[];
  readonly wanted: Wanted;
  readonly want: (over: Partial<Wanted>) => void;
  readonly take: (files: File[]) => void;
  readonly newFolder: () => void;
}

function Breadcrumbs({ share, path }: Pick<Properties, 'share' | 'path'>) {
  if (path.length === 0) return null;
  return (
    <nav aria-label="Folders" class="crumbs">
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
  ['name asc', 'Name, A to Z'],
  ['name desc', 'Name, Z to A'],
  ['modifiedDateTime desc', 'Newest first'],
  ['modifiedDateTime asc', 'Oldest first'],
  ['size desc', 'Largest first'],
  ['size asc', 'Smallest first'],
] as const;

const fields = { name: 'name', size: 'size', modifiedDateTime: 'modifiedDateTime' } as const;

function readOrder(value: string): Partial<Wanted> {
  const [field, order] = value.split(' ');
  return { sortField: fields[field as keyof typeof fields] ?? 'name', sortOrder: order === 'desc' ? 'desc' : 'asc' };
}

/** Where one is, how it is sorted, and what can be done with the whole folder. */
export function FolderTools({ share, path, wanted, want, take, newFolder }: Properties) {
  const { can } = share;
  return (
    <div class="tools">
      <Breadcrumbs share={share} path={path} />
      {share.folder && (
        <div class="tools-row">
          <input
            class="search"
            type="search"
            placeholder="Search in this folder"
            aria-label="Search in this folder"
            value={wanted.searchWord}
            onInput={({ currentTarget }) => want({ searchWord: currentTarget.value })}
          />
          <select
            aria-label="Sort"
            value={`${wanted.sortField} ${wanted.sortOrder}`}
            onChange={({ currentTarget }) => want(readOrder(currentTarget.value))}
          >
            {orders.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
          <span class="tools-actions">
            {can.createFolder && (
              <button type="button" class="button" onClick={newFolder}>
                <Icon name="folderPlus" /> New folder
              </button>
            )}
            {can.downloadFolder && (
              <a class={can.upload ? 'button' : 'button primary'} href={addressOf('zip', path)} download>
                <Icon name="download" /> All as zip
              </a>
            )}
            {can.upload && (
              <ChooseFiles className="button primary" take={take}>
                <Icon name="upload" /> Upload
              </ChooseFiles>
            )}
          </span>
        </div>
      )}
    </div>
  );
}
