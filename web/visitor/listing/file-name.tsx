import { visibleName } from '#core/translations/visible-name.ts';
import { splitName } from '#kit/format.ts';

/** A file name. A long one is shortened in the middle, because the end distinguishes files with similar names. */
export function FileName({ name }: { name: string }) {
  const text = visibleName(name);
  const [begin, end] = splitName(text);
  return (
    <span class="name" title={text} dir="auto">
      <span class="name-begin" aria-hidden="true">
        {begin}
      </span>
      <span class="name-end" aria-hidden="true">
        {end}
      </span>
      <span class="for-reader">{text}</span>
    </span>
  );
}
