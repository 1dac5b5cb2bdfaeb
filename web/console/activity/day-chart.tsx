import { Table } from '@mantine/core';
import { useId } from 'react';
import { formatCount, formatDay, formatNumber } from '#console/components/format.ts';
import type { ResponseOf } from '#features/operation-types.ts';

export type DayCounts = ResponseOf<'overview/get'>['byDay'][number];

const millisecondsPerDay = 86_400_000;
const [width, height, axisHeight] = [640, 120, 18];

/** Returns the counts of each day of the period, including days without activity. */
function everyDay(byDay: readonly DayCounts[], days: number, now: number): DayCounts[] {
  const byDate = new Map(byDay.map((counts) => [counts.date, counts]));
  return Array.from({ length: days }, (_, index) => {
    const date = new Date(now - (days - 1 - index) * millisecondsPerDay).toISOString().slice(0, 10);
    return byDate.get(date) ?? { date, visits: 0, downloads: 0, uploads: 0 };
  });
}

const series = ['visits', 'downloads', 'uploads'] as const;

/** Shows visits, downloads and uploads by day, as bars and as a table. */
export function DayChart({ byDay, days = 30 }: { byDay: readonly DayCounts[]; days?: number }) {
  const title = useId();
  const allDays = everyDay(byDay, days, Date.now());
  const highest = Math.max(4, ...allDays.map(({ visits, downloads, uploads }) => Math.max(visits, downloads, uploads)));
  const step = width / days;
  const heightOf = (value: number) => (value / highest) * (height - axisHeight - 8);
  const sum = (field: 'visits' | 'downloads' | 'uploads') => allDays.reduce((total, counts) => total + counts[field], 0);
  const visits = formatCount(sum('visits'), 'visit', 'visits');
  const downloads = formatCount(sum('downloads'), 'download', 'downloads');
  const uploads = formatCount(sum('uploads'), 'upload', 'uploads');
  const summary = `${visits}, ${downloads} and ${uploads} in ${days} days`;
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={title} preserveAspectRatio="none">
        <title id={title}>{summary}</title>
        <line x1={0} x2={width} y1={height - axisHeight} y2={height - axisHeight} className="chart-axis" />
        {allDays.map((counts, index) => (
          <g key={counts.date}>
            {series.map((field, bar) => (
              <rect
                key={field}
                className={`chart-${field}`}
                x={index * step + 2 + (bar * (step - 2)) / series.length}
                width={(step - 2) / series.length - 1}
                y={height - axisHeight - heightOf(counts[field])}
                height={heightOf(counts[field])}
              />
            ))}
          </g>
        ))}
      </svg>
      <figcaption>
        <span className="chart-key" data-of="visits">
          {visits}
        </span>
        <span className="chart-key" data-of="downloads">
          {downloads}
        </span>
        <span className="chart-key" data-of="uploads">
          {uploads}
        </span>
        <span>
          {formatDay(allDays[0]?.date ?? '1970-01-01')} to {formatDay(allDays.at(-1)?.date ?? '1970-01-01')}
        </span>
      </figcaption>
      <details>
        <summary>Show as table</summary>
        {byDay.length === 0 ? (
          <p className="muted">No activity in this period.</p>
        ) : (
          <Table
            data={{
              head: ['Day', 'Visits', 'Downloads', 'Uploads'],
              body: byDay.map(({ date, visits, downloads, uploads }) => [
                formatDay(date),
                ...[visits, downloads, uploads].map(formatNumber),
              ]),
            }}
          />
        )}
      </details>
    </figure>
  );
}
