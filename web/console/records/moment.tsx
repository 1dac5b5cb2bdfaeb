import { formats, formatRelative } from './format.ts';

/** An instant in words, exact on hover. */
export const RelativeTime = ({ at, never = 'never' }: { at: string | null | undefined; never?: string }) =>
  at ? (
    <time dateTime={at} title={formats.exact(at)}>
      {formatRelative(at, Date.now())}
    </time>
  ) : (
    <span className="quiet">{never}</span>
  );

/** Until when something holds. */
export function EndTime({ at, never = 'no end' }: { at: string | null; never?: string }) {
  if (!at) return <span className="quiet">{never}</span>;
  const { moment, wholeDay } = formats.end(at);
  return (
    <time dateTime={at} title={formats.exact(at)}>
      {wholeDay ? `end of ${moment}` : moment}
    </time>
  );
}
