import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const beyond = 12; // rows drawn above and below what is seen
const firstRows = 16; // before anything is measured

/** Rows from the first up to, not including, the last. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
  /** They go by faster than anybody can read: a screen a frame. */
  readonly flying: boolean;
}

/** Which of so many rows of one height can be seen: only these are drawn, so that a folder may hold any number. */
export function useWindow(list: RefObject<HTMLElement | null>, count: number, rowHeight: number): RowWindow {
  const [seen, setSeen] = useState<RowWindow>({ from: 0, to: Math.min(count, firstRows), flying: false });
  useEffect(() => {
    let frame = 0;
    let before = 0;
    const measure = () => {
      frame = 0;
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const from = Math.max(0, Math.floor(-top / rowHeight) - beyond);
      const to = Math.min(count, Math.ceil((window.innerHeight - top) / rowHeight) + beyond);
      const flying = Math.abs(from - before) > window.innerHeight / rowHeight;
      before = from;
      setSeen((last) => (last.from === from && last.to === to && last.flying === flying ? last : { from, to: Math.max(from, to), flying }));
      if (flying) soon(); // it has landed where the next frame finds it still
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
  return { ...seen, from: Math.min(seen.from, count), to: Math.min(seen.to, count) };
}
