import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const beyond = 12; // rows drawn above and below what is seen
const firstRows = 16; // before anything is measured

/** Rows from the first up to, not including, the last. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
}

/** Which of so many rows of one height can be seen: only these are drawn, so that a folder may hold any number. */
export function useWindow(list: RefObject<HTMLElement | null>, count: number, rowHeight: number): RowWindow {
  const [seen, setSeen] = useState<RowWindow>({ from: 0, to: Math.min(count, firstRows) });
  useEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const from = Math.max(0, Math.floor(-top / rowHeight) - beyond);
      const to = Math.min(count, Math.ceil((window.innerHeight - top) / rowHeight) + beyond);
      setSeen((before) => (before.from === from && before.to === to ? before : { from, to: Math.max(from, to) }));
    };
    const soon = () => {
      frame ||= requestAnimationFrame(measure);
    };
    measure();
    window.addEventListener('scroll', soon, { passive: true });
    window.addEventListener('resize', soon);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener('scroll', soon);
      window.removeEventListener('resize', soon);
    };
  }, [count, rowHeight]);
  return { from: Math.min(seen.from, count), to: Math.min(seen.to, count) };
}
