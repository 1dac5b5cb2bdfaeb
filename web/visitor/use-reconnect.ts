import { useEffect, useRef } from 'preact/hooks';
import type { Failure } from '#visitor/link-api.ts';

const [minPause, maxPause] = [1000, 30_000]; // ms between two attempts

/**
 * While there is no connection, repeats a request when the browser reports a connection, and after pauses, because a
 * browser may report the connection too early, or never. Each pause is twice as long as the one before, up to 30 seconds.
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
