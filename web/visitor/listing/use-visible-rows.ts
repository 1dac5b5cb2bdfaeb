import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const overscan = 12; // rows drawn above and below the screen
const initialRows = 16; // before the first measurement

/** A range of rows; `to` is exclusive. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
  /** Whether the list scrolls by more than a screen per frame, too fast to read. */
  readonly isScrollingFast: boolean;
}

/** Returns the rows to draw: those on the screen and a few above and below it. */
export function useVisibleRows(list: RefObject<HTMLElement | null>, count: number, rowHeight: number): RowWindow {
  const [rows, setRows] = useState<RowWindow>({ from: 0, to: Math.min(count, initialRows), isScrollingFast: false });
  useEffect(() => {
    let frame = 0;
    let previousFrom: number | null = null;
    const measure = () => {
      frame = 0;
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const from = Math.max(0, Math.floor(-top / rowHeight) - overscan);
      const to = Math.max(from, Math.min(count, Math.ceil((window.innerHeight - top) / rowHeight) + overscan));
      const isScrollingFast = previousFrom !== null && Math.abs(from - previousFrom) > window.innerHeight / rowHeight;
      previousFrom = from;
      setRows((before) =>
        before.from === from && before.to === to && before.isScrollingFast === isScrollingFast ? before : { from, to, isScrollingFast },
      );
      if (isScrollingFast) scheduleMeasure(); // the next frame finds out whether the scrolling has stopped
    };
    const scheduleMeasure = () => {
      frame ||= requestAnimationFrame(measure);
    };
    measure();
    window.addEventListener('scroll', scheduleMeasure, { passive: true });
    window.addEventListener('resize', scheduleMeasure);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener('scroll', scheduleMeasure);
      window.removeEventListener('resize', scheduleMeasure);
    };
  }, [count, rowHeight]);
  return { ...rows, from: Math.min(rows.from, count), to: Math.min(rows.to, count) };
}
