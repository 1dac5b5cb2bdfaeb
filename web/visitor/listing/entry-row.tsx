import type { CSSProperties } from 'preact';
import { useRef } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { folderAddress, previewAddress } from '#visitor/folder-address.ts';
import { addressOf } from '#visitor/link-api.ts';
import { filePermissions, type LinkPermissions } from '#visitor/offered-permissions.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { fileIcon } from './file-kind.ts';
import { FileName } from './file-name.tsx';
import { RowMenu } from './row-menu.tsx';
import type { FolderEntry } from './use-folder.ts';

/** The permissions and the actions of all rows. */
export interface RowActions {
  readonly can: LinkPermissions;
  readonly canSelect: boolean;
  readonly toggleSelection: (entry: FolderEntry) => void;
  readonly rename: (entry: FolderEntry) => void;
  readonly remove: (entry: FolderEntry) => void;
}

interface Properties extends RowActions {
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

const longPress = 500; // ms

/** Returns event handlers that call a function after a long press on a touch screen. */
function useLongPress(onLongPress: (() => void) | null) {
  const timer = useRef(0);
  const isLongPress = useRef(false);
  if (!onLongPress) return {};
  const cancel = () => window.clearTimeout(timer.current);
  return {
    onPointerDown(event: PointerEvent) {
      isLongPress.current = false;
      if (event.pointerType !== 'touch') return;
      timer.current = window.setTimeout(() => {
        isLongPress.current = true;
        onLongPress();
      }, longPress);
    },
    onPointerUp: cancel,
    onPointerMove: cancel,
    onPointerCancel: cancel,
    onContextMenu: (event: Event) => isLongPress.current && event.preventDefault(),
    onClick(event: Event) {
      if (isLongPress.current) event.preventDefault();
      isLongPress.current = false;
    },
  };
}

/** Returns the link of a row: to the folder, to the preview or the download of a file, or none. */
function rowLink(entry: FolderEntry, path: readonly string[], can: LinkPermissions): { href?: string; download?: string } {
  if (entry.folder) return { href: folderAddress(path) };
  if (can.view) return { href: previewAddress(path.length === 0 ? [entry.name] : path) };
  return can.download ? { href: addressOf('file', path), download: entry.name } : {};
}

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

/** The row of a file or folder. A click on its name opens it, or downloads a file that the visitor cannot view. */
export function EntryRow({
  entry,
  path,
  can: canInFolder,
  canSelect,
  isSelected,
  position,
  style,
  toggleSelection,
  rename,
  remove,
}: Properties) {
  const { translate, format } = useTranslation();
  const longPressHandlers = useLongPress(canSelect ? () => toggleSelection(entry) : null);
  const { name } = entry;
  const can = filePermissions(canInFolder, entry);
  return (
    <li class={isSelected ? 'row chosen' : 'row'} style={style} aria-setsize={position.total} aria-posinset={position.index + 1}>
      {canSelect && (
        <label class="choose">
          <input type="checkbox" checked={isSelected} onChange={() => toggleSelection(entry)} />
          <span class="for-reader">{translate('selectItem', { name })}</span>
        </label>
      )}
      <a class="row-main" {...rowLink(entry, path, can)} {...longPressHandlers}>
        <span class={entry.folder ? 'folder-icon' : 'file-icon'}>
          <Icon name={fileIcon(entry)} />
        </span>
        <FileName name={name} />
        <span class="size muted" onPointerEnter={setTooltip(() => (entry.folder ? '' : translate('bytes', { count: entry.size })))}>
          {entry.folder ? '' : format.size(entry.size)}
        </span>
        <ModifiedTime instant={entry.modifiedDateTime} />
      </a>
      <span class="row-actions">
        {!entry.folder && can.download && (
          <a class="icon-button" href={addressOf('file', path)} download={name}>
            <Icon name="download" />
            <span class="for-reader">{translate('downloadNamed', { name })}</span>
          </a>
        )}
        {entry.folder && can.downloadFolder && (
          <a class="icon-button" href={addressOf('zip', path)} download={`${name}.zip`}>
            <Icon name="download" />
            <span class="for-reader">{translate('zipNamed', { name })}</span>
          </a>
        )}
        {(can.rename || can.delete) && (
          <RowMenu name={name} rename={can.rename ? () => rename(entry) : null} remove={can.delete ? () => remove(entry) : null} />
        )}
      </span>
    </li>
  );
}
