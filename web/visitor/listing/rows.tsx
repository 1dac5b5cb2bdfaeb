import { useEffect, useRef } from 'preact/hooks';
import { useMedia } from '#visitor/use-media.ts';
import { EntryRow, type RowDoings } from './entry-row.tsx';
import type { Folder } from './use-folder.ts';
import { useWindow } from './use-window.ts';

const [tall, low] = [64, 53]; // px of a row on a phone and elsewhere: style.css gives them that height

interface Properties {
  readonly folder: Folder;
  readonly total: number;
  readonly doings: RowDoings;
  readonly pathOf: (name: string) => readonly string[];
  readonly chosen: ReadonlyMap<string, number>;
}

/** The rows of a folder, of which only those are drawn that can be seen. */
export function Rows({ folder, total, doings, pathOf, chosen }: Properties) {
  const list = useRef<HTMLUListElement>(null);
  const height = useMedia('(max-width: 600px)') ? tall : low;
  const { from, to, flying } = useWindow(list, total, height);
  // After every drawing: what was known may have been forgotten since.
  useEffect(() => {
    if (!flying) folder.need(from, to);
  });
  const drawn = Array.from({ length: to - from }, (_, offset) => from + offset);
  return (
    <ul ref={list} class="rows far" style={{ blockSize: `${total * height}px` }} aria-busy={folder.loading}>
      {drawn.map((index) => {
        const entry = flying ? null : folder.at(index);
        const style = { insetBlockStart: `${index * height}px` };
        if (!entry) return <li key={index} class="row to-come" style={style} aria-hidden="true" />;
        return (
          <EntryRow
            key={entry.name}
            {...doings}
            entry={entry}
            path={pathOf(entry.name)}
            chosen={chosen.has(entry.name)}
            place={{ index, total }}
            style={style}
          />
        );
      })}
    </ul>
  );
}
