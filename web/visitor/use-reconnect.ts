import { useEffect, useRef } from 'preact/hooks';
import type { Failure } from '#visitor/link-api.ts';

const [minPause, maxPause] = [1000, 30_000]; // ms between two attempts

/**
 * Repeats a request while there is no connection: when the browser reports a connection, and after pauses of 1 to 30 seconds.
 * The pauses are needed because the browser may report the connection too early or never.
 */
export function useReconnect(failure: Failure | null, retry: () => void): void {
  const attempts = useRef(0);
  useEffect(() => {
    if (failure?.code !== 'offline') {
      attempts.current = 0;
      return;
    }
    const timer = setTimeout(retry, Math.min(maxPause, minPause * 2 ** attempts.current));
    attempts.current += 1;
    window.addEventListener('online', retry);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('online', retry);
    };
  }, [failure]);
}
