import type { CSSProperties } from 'preact';
import { useRef } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { addressOfFolder, addressOfLook } from '#visitor/folder-address.ts';
import { addressOf } from '#visitor/link-api.ts';
import type { Can } from '#visitor/offered.ts';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { iconOf } from './file-kind.ts';
import { FileName } from './file-name.tsx';
import { RowMenu } from './row-menu.tsx';
import type { Entry } from './use-folder.ts';

/** What rows have in common. */
export interface RowDoings {
  readonly can: Can;
  readonly canChoose: boolean;
  readonly choose: (entry: Entry) => void;
  readonly rename: (entry: Entry) => void;
  readonly remove: (entry: Entry) => void;
}

interface Properties extends RowDoings {
  readonly entry: Entry;
  readonly path: readonly string[];
  readonly chosen: boolean;
  readonly place: { readonly index: number; readonly total: number };
  readonly style: CSSProperties;
}

/** Exact words for whoever points at something: written only then, since rows come by the thousand. */
const tell =
  (words: () => string) =>
  ({ currentTarget }: { currentTarget: HTMLElement }) => {
    currentTarget.title = words();
  };

const longPress = 500; // ms

/** Choosing begins by a long press, too. */
function useLongPress(act: (() => void) | null) {
  const timer = useRef(0);
  const pressed = useRef(false);
  if (!act) return {};
  const end = () => window.clearTimeout(timer.current);
  return {
    onPointerDown(event: PointerEvent) {
      pressed.current = false;
      if (event.pointerType !== 'touch') return;
      timer.current = window.setTimeout(() => {
        pressed.current = true;
        act();
      }, longPress);
    },
    onPointerUp: end,
    onPointerMove: end,
    onPointerCancel: end,
    onContextMenu: (event: Event) => pressed.current && event.preventDefault(),
    onClick(event: Event) {
      if (pressed.current) event.preventDefault();
      pressed.current = false;
    },
  };
}

/** Where the row itself leads: into a folder, to a look at a file, to its download, or nowhere. */
function addressOfRow(entry: Entry, path: readonly string[], can: Can): { href?: string; download?: string } {
  if (entry.folder) return { href: addressOfFolder(path) };
  if (can.view) return { href: addressOfLook(path.length === 0 ? [entry.name] : path) };
  return can.download ? { href: addressOf('file', path), download: entry.name } : {};
}

/** One file or folder: the whole row opens it, what else can be done stands at its end. */
export function EntryRow({ entry, path, can, canChoose, chosen, place, style, choose, rename, remove }: Properties) {
  const { say, format } = useSpeech();
  const press = useLongPress(canChoose ? () => choose(entry) : null);
  const { name } = entry;
  return (
    <li class={chosen ? 'row chosen' : 'row'} style={style} aria-setsize={place.total} aria-posinset={place.index + 1}>
      {canChoose && (
        <label class="choose">
          <input type="checkbox" checked={chosen} onChange={() => choose(entry)} />
          <span class="for-reader">{say('choose', { name })}</span>
        </label>
      )}
      <a class="row-main" {...addressOfRow(entry, path, can)} {...press}>
        <span class={entry.folder ? 'folder-icon' : 'file-icon'}>
          <Icon name={iconOf(entry)} />
        </span>
        <FileName name={name} />
        <span class="size quiet" onPointerEnter={tell(() => (entry.folder ? '' : say('bytes', { count: entry.size })))}>
          {entry.folder ? '' : format.size(entry.size)}
        </span>
        <time class="date quiet" dateTime={entry.modifiedDateTime} onPointerEnter={tell(() => format.exact(entry.modifiedDateTime))}>
          {format.day(entry.modifiedDateTime)}
        </time>
      </a>
      <span class="row-actions">
        {!entry.folder && can.download && (
          <a class="icon-button" href={addressOf('file', path)} download={name}>
            <Icon name="download" />
            <span class="for-reader">{say('downloadNamed', { name })}</span>
          </a>
        )}
        {entry.folder && can.downloadFolder && (
          <a class="icon-button" href={addressOf('zip', path)} download={`${name}.zip`}>
            <Icon name="download" />
            <span class="for-reader">{say('zipNamed', { name })}</span>
          </a>
        )}
        {(can.rename || can.delete) && (
          <RowMenu name={name} rename={can.rename ? () => rename(entry) : null} remove={can.delete ? () => remove(entry) : null} />
        )}
      </span>
    </li>
  );
}
