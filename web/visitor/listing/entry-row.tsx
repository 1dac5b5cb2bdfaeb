import type { CSSProperties } from 'preact';
import { Icon } from '#kit/icons.tsx';
import { filePermissions } from '#visitor/offered-permissions.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { ChooseBox, type EntryActions, EntryButtons, entryLink, useLongPress } from './entry-parts.tsx';
import { fileIcon } from './file-kind.ts';
import { FileName } from './file-name.tsx';
import type { FolderEntry } from './use-folder.ts';

/** What an entry of a list or a grid shows. */
export interface EntryProperties extends EntryActions {
  readonly entry: FolderEntry;
  readonly path: readonly string[];
  readonly isSelected: boolean;
  readonly position: { readonly index: number; readonly total: number };
  readonly style: CSSProperties;
}

/** Returns an event handler that sets a tooltip when the pointer enters. Formatting a text for each row would slow down scrolling. */
const setTooltip =
  (text: () => string) =>
  ({ currentTarget }: { currentTarget: HTMLElement }) => {
    currentTarget.title = text();
  };

/** The time of the last change; empty for a folder whose storage keeps no times of folders. */
function ModifiedTime({ instant }: { readonly instant: string | null }) {
  const { format } = useTranslation();
  if (instant === null) return <span class="date" />;
  return (
    <time class="date muted" dateTime={instant} onPointerEnter={setTooltip(() => format.exact(instant))}>
      {format.day(instant)}
    </time>
  );
}

/** The row of a file or folder. A click on its name opens it, or downloads a file that the visitor can only download. */
export function EntryRow({
  entry,
  path,
  can: canInFolder,
  canSelect,
  isSelected,
  position,
  style,
  toggleSelection,
  ...changes
}: EntryProperties) {
  const { translate, format } = useTranslation();
  const longPressHandlers = useLongPress(canSelect ? () => toggleSelection(entry) : null);
  const can = filePermissions(canInFolder, entry);
  return (
    <li class={isSelected ? 'row chosen' : 'row'} style={style} aria-setsize={position.total} aria-posinset={position.index + 1}>
      {canSelect && <ChooseBox entry={entry} isSelected={isSelected} toggleSelection={toggleSelection} />}
      <a class="row-main" {...entryLink(entry, path, can)} {...longPressHandlers}>
        <span class={entry.folder ? 'folder-icon' : 'file-icon'}>
          <Icon name={fileIcon(entry)} />
        </span>
        <FileName name={entry.name} />
        <span class="size muted" onPointerEnter={setTooltip(() => (entry.folder ? '' : translate('bytes', { count: entry.size })))}>
          {entry.folder ? '' : format.size(entry.size)}
        </span>
        <ModifiedTime instant={entry.modifiedDateTime} />
      </a>
      <EntryButtons entry={entry} path={path} can={can} {...changes} />
    </li>
  );
}
