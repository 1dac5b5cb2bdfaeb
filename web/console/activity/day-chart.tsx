import { Table } from '@mantine/core';
import { useId } from 'react';
import { count, counted, dayOf } from '#console/records/format.ts';

/** What was done on one day. */
export interface DayCounts {
  readonly date: string;
  readonly visits: number;
  readonly downloads: number;
  readonly uploads: number;
}

const day = 86_400_000; // ms
const [width, height, foot] = [640, 120, 18];

/** Every day of the time shown, those without anything too. */
function everyDay(known: readonly DayCounts[], days: number, now: number): DayCounts[] {
  const byDate = new Map(known.map((counts) => [counts.date, counts]));
  return Array.from({ length: days }, (_, index) => {
    const date = new Date(now - (days - 1 - index) * day).toISOString().slice(0, 10);
    return byDate.get(date) ?? { date, visits: 0, downloads: 0, uploads: 0 };
  });
}

const bars = ['visits', 'downloads', 'uploads'] as const;

/** Visits, downloads and uploads by day: bars to look at, and the same as a table. */
export function DayChart({ byDay, days = 30 }: { byDay: readonly DayCounts[]; days?: number }) {
  const title = useId();
  const shown = everyDay(byDay, days, Date.now());
  const most = Math.max(4, ...shown.map(({ visits, downloads, uploads }) => Math.max(visits, downloads, uploads)));
  const step = width / days;
  const tall = (value: number) => (value / most) * (height - foot - 8);
  const sum = (of: 'visits' | 'downloads' | 'uploads') => shown.reduce((total, counts) => total + counts[of], 0);
  const visits = counted(sum('visits'), 'visit', 'visits');
  const downloads = counted(sum('downloads'), 'download', 'downloads');
  const uploads = counted(sum('uploads'), 'upload', 'uploads');
  const words = `${visits}, ${downloads} and ${uploads} in ${days} days`;
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={title} preserveAspectRatio="none">
        <title id={title}>{words}</title>
        <line x1={0} x2={width} y1={height - foot} y2={height - foot} className="chart-ground" />
        {shown.map((counts, index) => (
          <g key={counts.date}>
            {bars.map((of, bar) => (
              <rect
                key={of}
                className={`chart-${of}`}
                x={index * step + 2 + (bar * (step - 2)) / bars.length}
                width={(step - 2) / bars.length - 1}
                y={height - foot - tall(counts[of])}
                height={tall(counts[of])}
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
          {dayOf(shown[0]?.date ?? '1970-01-01')} to {dayOf(shown.at(-1)?.date ?? '1970-01-01')}
        </span>
      </figcaption>
      <details>
        <summary>As a table</summary>
        {byDay.length === 0 ? (
          <p className="quiet">Nothing happened.</p>
        ) : (
          <Table
            data={{
              head: ['Day', 'Visits', 'Downloads', 'Uploads'],
              body: byDay.map(({ date, visits, downloads, uploads }) => [dayOf(date), ...[visits, downloads, uploads].map(count)]),
            }}
          />
        )}
      </details>
    </figure>
  );
}
