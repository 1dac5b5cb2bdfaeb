import { useEffect, useState } from 'react';

/** Seconds that are left, told anew each second. @returns them, and what begins to count down */
export function useCountdown(): readonly [number, (seconds: number) => void] {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    if (seconds <= 0) return;
    const timer = setTimeout(() => setSeconds(seconds - 1), 1000);
    return () => clearTimeout(timer);
  }, [seconds]);
  return [seconds, setSeconds];
}
