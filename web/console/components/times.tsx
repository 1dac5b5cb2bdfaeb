import { formatRelative, formats } from './format.ts';

/** Shows a time relative to now. The exact time appears on hover. */
export const RelativeTime = ({ at, never = 'never' }: { at: string | null | undefined; never?: string }) =>
  at ? (
    <time dateTime={at} title={formats.exact(at)}>
      {formatRelative(at, Date.now())}
    </time>
  ) : (
    <span className="muted">{never}</span>
  );

/** Shows when something expires. */
export function EndTime({ at, never = 'never' }: { at: string | null; never?: string }) {
  if (!at) return <span className="muted">{never}</span>;
  const { moment, endsWithDay } = formats.end(at);
  return (
    <time dateTime={at} title={formats.exact(at)}>
      {endsWithDay ? `end of ${moment}` : moment}
    </time>
  );
}
