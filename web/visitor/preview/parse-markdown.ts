import type { Root } from 'mdast';

const maxTime = 3000; // ms

/** Parses Markdown in a worker. @returns `tree`: null if it takes too long or fails, as for deep nesting; `stop` ends the worker */
export function parseMarkdown(text: string): { readonly tree: Promise<Root | null>; readonly stop: () => void } {
  const worker = new Worker(new URL('./markdown-worker.ts', import.meta.url), { type: 'module' });
  const { promise, resolve } = Promise.withResolvers<Root | null>();
  const timer = setTimeout(() => resolve(null), maxTime);
  worker.addEventListener('message', ({ data }: MessageEvent<Root>) => resolve(data));
  for (const failure of ['error', 'messageerror']) worker.addEventListener(failure, () => resolve(null));
  worker.postMessage(text);
  const stop = () => {
    clearTimeout(timer);
    worker.terminate();
  };
  return { tree: promise.finally(stop), stop };
}
