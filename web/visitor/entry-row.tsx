import type { Listing, Visit } from '#core/records/visit.ts';
import { exactInstant, exactSize, formatDay, formatSize } from '#kit/format.ts';
import { Icon, type IconName } from '#kit/icons.tsx';
import { FileName } from './file-name.tsx';
import { addressOfFolder } from './folder-address.ts';
import { addressOf } from './link-api.ts';

export type Entry = Listing['entries'][number];
type Can = NonNullable<Visit['share']>['can'];

interface Properties {
  readonly entry: Entry;
  readonly path: readonly string[];
  readonly can: Can;
  /** null: nothing can be chosen here. */
  readonly chosen: boolean | null;
  readonly choose: (name: string) => void;
  readonly rename: (entry: Entry) => void;
  readonly remove: (entry: Entry) => void;
}

function iconOf({ folder, mediaType }: Entry): IconName {
  if (folder) return 'folder';
  const [family] = mediaType.split('/');
  if (family === 'image') return 'image';
  if (family === 'video' || family === 'audio') return 'media';
  return family === 'text' || mediaType === 'application/pdf' ? 'text' : 'file';
}

/** Where the row itself leads: into a folder, to a look at a file, or to its download. */
function addressOfRow(entry: Entry, path: readonly string[], can: Can): string {
  if (entry.folder) return addressOfFolder(path);
  return addressOf(can.view ? 'view' : 'file', path);
}

/** One file or folder: the whole row opens it, what else can be done stands at its end. */
export function EntryRow({ entry, path, can, chosen, choose, rename, remove }: Properties) {
  const target = !entry.folder && can.view ? { target: '_blank', rel: 'noopener' } : {};
  return (
    <li class={chosen ? 'row chosen' : 'row'}>
      {chosen !== null && (
        <label class="choose">
          <input type="checkbox" checked={chosen} onChange={() => choose(entry.name)} />
          <span class="for-reader">{`Choose ${entry.name}`}</span>
        </label>
      )}
      <a class="row-main" href={addressOfRow(entry, path, can)} {...target}>
        <span class={entry.folder ? 'folder-icon' : 'file-icon'}>
          <Icon name={iconOf(entry)} />
        </span>
        <FileName name={entry.name} />
        <span class="size quiet" title={entry.folder ? '' : exactSize(entry.size)}>
          {entry.folder ? '' : formatSize(entry.size)}
        </span>
        <time class="date quiet" dateTime={entry.modifiedDateTime} title={exactInstant(entry.modifiedDateTime)}>
          {formatDay(entry.modifiedDateTime)}
        </time>
      </a>
      <span class="row-actions">
        {!entry.folder && can.download && (
          <a class="icon-button" href={addressOf('file', path)} download={entry.name}>
            <Icon name="download" />
            <span class="for-reader">{`Download ${entry.name}`}</span>
          </a>
        )}
        {entry.folder && can.downloadFolder && (
          <a class="icon-button" href={addressOf('zip', path)} download={`${entry.name}.zip`}>
            <Icon name="download" />
            <span class="for-reader">{`Download ${entry.name} as a zip`}</span>
          </a>
        )}
        {(can.rename || can.delete) && (
          <details class="menu">
            <summary class="icon-button">
              <Icon name="more" />
              <span class="for-reader">{`More for ${entry.name}`}</span>
            </summary>
            <div class="menu-items">
              {can.rename && (
                <button type="button" onClick={() => rename(entry)}>
                  Rename
                </button>
              )}
              {can.delete && (
                <button type="button" class="loss-text" onClick={() => remove(entry)}>
                  Delete
                </button>
              )}
            </div>
          </details>
        )}
      </span>
    </li>
  );
}
