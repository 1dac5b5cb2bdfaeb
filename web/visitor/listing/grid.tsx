import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { addressOf } from '#visitor/link-api.ts';
import { filePermissions, type LinkPermissions } from '#visitor/offered-permissions.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { ChooseBox, EntryButtons, entryLink, useLongPress } from './entry-parts.tsx';
import type { EntryProperties } from './entry-row.tsx';
import { fileIcon, fileKind } from './file-kind.ts';
import { FileName } from './file-name.tsx';
import './grid.css';
import type { RowsProperties } from './rows.tsx';
import type { FolderEntry } from './use-folder.ts';
import { useVisibleRows } from './use-visible-rows.ts';

const [minCardWidth, cardHeight, gap] = [156, 208, 12]; // px: grid.css sets the same height
const thumbnailSize = 320; // px: about twice the smallest width of a card, so that the picture is sharp on screens with a high resolution
const maxDrawnBytes = 64 << 20;

/** The first page of a PDF file, or an image, if the visitor may view it and it can be drawn. Otherwise an icon. */
function Thumbnail({ entry, path, can }: { readonly entry: FolderEntry; readonly path: readonly string[]; readonly can: LinkPermissions }) {
  const [hasFailed, setFailed] = useState(false);
  const kind = fileKind(entry.mediaType);
  const isDrawn = !entry.folder && can.view && (kind === 'image' || kind === 'pdf') && entry.size <= maxDrawnBytes && !hasFailed;
  return (
    <span class={entry.folder ? 'card-picture folder-icon' : 'card-picture file-icon'}>
      {isDrawn ? (
        <img
          src={`${addressOf('thumbnail', path)}?size=${thumbnailSize}`}
          alt=""
          loading="lazy"
          decoding="async"
          onError={() => setFailed(true)}
        />
      ) : (
        <Icon name={fileIcon(entry)} size={40} />
      )}
    </span>
  );
}

/** The card of a file or folder. A click opens the entry, or downloads a file that the visitor can download but not view. */
function EntryCard({
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
  const { format } = useTranslation();
  const longPressHandlers = useLongPress(canSelect ? () => toggleSelection(entry) : null);
  const can = filePermissions(canInFolder, entry);
  return (
    <li
      class={isSelected ? 'entry-card chosen' : 'entry-card'}
      style={style}
      aria-setsize={position.total}
      aria-posinset={position.index + 1}
    >
      <a class="card-main" {...entryLink(entry, path, can)} {...longPressHandlers}>
        <Thumbnail entry={entry} path={path} can={can} />
        <FileName name={entry.name} />
      </a>
      {canSelect && <ChooseBox entry={entry} isSelected={isSelected} toggleSelection={toggleSelection} />}
      <span class="card-foot">
        <span class="muted small">{entry.folder ? '' : format.size(entry.size)}</span>
        <EntryButtons entry={entry} path={path} can={can} {...changes} />
      </span>
    </li>
  );
}

/** Returns the width of an element, and follows its changes. */
function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    observer.observe(element.current);
    setWidth(element.current.clientWidth);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** The entries of a folder as cards with thumbnails. Only those on the screen, and a few above and below it, are drawn. */
export function Grid({ folder, total, actions, pathOf, selection }: RowsProperties) {
  const list = useRef<HTMLUListElement>(null);
  const width = useWidth(list);
  const columns = Math.max(2, Math.floor((width + gap) / (minCardWidth + gap)));
  const rowCount = Math.ceil(total / columns);
  const rows = useVisibleRows(list, rowCount, cardHeight + gap);
  const [from, to] = [rows.from * columns, Math.min(total, rows.to * columns)];
  // After every render, because the entries on the screen must be requested again after a reload.
  useEffect(() => {
    if (!rows.isScrollingFast && width > 0) folder.load(from, to);
  });
  const cardWidth = (width - gap * (columns - 1)) / columns;
  const styleOf = (index: number) => ({
    insetBlockStart: `${Math.floor(index / columns) * (cardHeight + gap)}px`,
    insetInlineStart: `${(index % columns) * (cardWidth + gap)}px`,
    inlineSize: `${cardWidth}px`,
  });
  const indexes = width === 0 ? [] : Array.from({ length: to - from }, (_, offset) => from + offset);
  return (
    <ul ref={list} class="entry-grid" style={{ blockSize: `${rowCount * (cardHeight + gap)}px` }} aria-busy={folder.loading}>
      {indexes.map((index) => {
        const entry = rows.isScrollingFast ? null : folder.at(index);
        if (!entry) return <li key={index} class="entry-card placeholder" style={styleOf(index)} aria-hidden="true" />;
        return (
          <EntryCard
            key={entry.name}
            {...actions}
            entry={entry}
            path={pathOf(entry.name)}
            isSelected={selection.has(entry.name)}
            position={{ index, total }}
            style={styleOf(index)}
          />
        );
      })}
    </ul>
  );
}
