import { useEffect, useState } from 'react';

/** Counts seconds down to zero. @returns the seconds left, and a function that starts the countdown */
export function useCountdown(): readonly [number, (seconds: number) => void] {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    if (seconds <= 0) return;
    const timer = setTimeout(() => setSeconds(seconds - 1), 1000);
    return () => clearTimeout(timer);
  }, [seconds]);
  return [seconds, setSeconds];
}
