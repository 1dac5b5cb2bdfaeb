import { splitName } from '#kit/format.ts';

/** A name whose end is always seen: ends are what tells files apart. */
export function FileName({ name }: { name: string }) {
  const [begin, end] = splitName(name);
  return (
    <span class="name" title={name} dir="auto">
      <span class="name-begin">{begin}</span>
      <span class="name-end">{end}</span>
    </span>
  );
}
