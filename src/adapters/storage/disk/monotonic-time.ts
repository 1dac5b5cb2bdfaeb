/** Returns the time in ms since an arbitrary moment, the same for all threads. It never goes back, even if the clock is set. */
export const monotonicTime = (): number => Number(process.hrtime.bigint() / 1_000_000n);
