/** Waits without keeping the process running. @param time ms */
export const pause = (time: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, time).unref());
