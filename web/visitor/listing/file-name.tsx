import { visibleName } from '#core/translations/visible-name.ts';
import { splitName } from '#kit/format.ts';

/** A name whose end is always seen: ends are what tells files apart. */
export function FileName({ name }: { name: string }) {
  const shown = visibleName(name);
  const [begin, end] = splitName(shown);
  return (
    <span class="name" title={shown} dir="auto">
      <span class="name-begin" aria-hidden="true">
        {begin}
      </span>
      <span class="name-end" aria-hidden="true">
        {end}
      </span>
      <span class="for-reader">{shown}</span>
    </span>
  );
}
