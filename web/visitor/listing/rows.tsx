import { useEffect, useRef } from 'preact/hooks';
import { useMedia } from '#visitor/use-media.ts';
import type { EntryActions } from './entry-parts.tsx';
import { EntryRow } from './entry-row.tsx';
import type { Folder } from './use-folder.ts';
import { useVisibleRows } from './use-visible-rows.ts';

const [phoneRowHeight, rowHeight] = [64, 53]; // px: style.css sets the same heights

/** What a list or a grid shows. */
export interface RowsProperties {
  readonly folder: Folder;
  readonly total: number;
  readonly actions: EntryActions;
  readonly pathOf: (name: string) => readonly string[];
  readonly selection: ReadonlyMap<string, number>;
}

/** The rows of a folder. Only those on the screen, and a few above and below it, are drawn. */
export function Rows({ folder, total, actions, pathOf, selection }: RowsProperties) {
  const list = useRef<HTMLUListElement>(null);
  const height = useMedia('(max-width: 600px)') ? phoneRowHeight : rowHeight;
  const { from, to, isScrollingFast } = useVisibleRows(list, total, height);
  // Runs after every render, because the rows on the screen must be requested again after a reload.
  useEffect(() => {
    if (!isScrollingFast) folder.load(from, to);
  });
  const indexes = Array.from({ length: to - from }, (_, offset) => from + offset);
  return (
    <ul ref={list} class="rows far" style={{ blockSize: `${total * height}px` }} aria-busy={folder.loading}>
      {indexes.map((index) => {
        const entry = isScrollingFast ? null : folder.at(index);
        const style = { insetBlockStart: `${index * height}px` };
        if (!entry) return <li key={index} class="row placeholder" style={style} aria-hidden="true" />;
        return (
          <EntryRow
            key={entry.name}
            {...actions}
            entry={entry}
            path={pathOf(entry.name)}
            isSelected={selection.has(entry.name)}
            position={{ index, total }}
            style={style}
          />
        );
      })}
    </ul>
  );
}
