import { useRef } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { folderAddress, previewAddress } from '#visitor/folder-address.ts';
import { addressOf } from '#visitor/link-api.ts';
import type { LinkPermissions } from '#visitor/offered-permissions.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { RowMenu } from './row-menu.tsx';
import type { FolderEntry } from './use-folder.ts';

/** The permissions and the actions of all entries. */
export interface EntryActions {
  readonly can: LinkPermissions;
  readonly canSelect: boolean;
  readonly toggleSelection: (entry: FolderEntry) => void;
  readonly rename: (entry: FolderEntry) => void;
  readonly remove: (entry: FolderEntry) => void;
}

const longPress = 500; // ms

/** Returns event handlers that call a function after a long press on a touch screen. */
export function useLongPress(onLongPress: (() => void) | null) {
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

/** Returns the link of an entry: to the folder, to the preview or the download of a file, or none. */
export function entryLink(entry: FolderEntry, path: readonly string[], can: LinkPermissions): { href?: string; download?: string } {
  if (entry.folder) return { href: folderAddress(path) };
  if (can.view) return { href: previewAddress(path.length === 0 ? [entry.name] : path) };
  return can.download ? { href: addressOf('file', path), download: entry.name } : {};
}

interface ChooseProperties {
  readonly entry: FolderEntry;
  readonly isSelected: boolean;
  readonly toggleSelection: (entry: FolderEntry) => void;
}

/** The checkbox that selects an entry. */
export function ChooseBox({ entry, isSelected, toggleSelection }: ChooseProperties) {
  const { translate } = useTranslation();
  return (
    <label class="choose">
      <input type="checkbox" checked={isSelected} onChange={() => toggleSelection(entry)} />
      <span class="for-reader">{translate('selectItem', { name: entry.name })}</span>
    </label>
  );
}

interface ButtonProperties extends Pick<EntryActions, 'rename' | 'remove'> {
  readonly entry: FolderEntry;
  readonly path: readonly string[];
  /** What the visitor may do with this entry. */
  readonly can: LinkPermissions;
}

/** The buttons of an entry: its download, and a menu. */
export function EntryButtons({ entry, path, can, rename, remove }: ButtonProperties) {
  const { translate } = useTranslation();
  const { name } = entry;
  return (
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
  );
}
