import { useEffect, useState } from 'preact/hooks';
import { droppedFiles } from './dropped-files.ts';
import type { Upload } from './uploads.ts';

/** While something is dragged over the page, the whole page is the target; what is pasted counts as dropped. */
export function useDrop(take: ((files: readonly Upload[]) => void) | null): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    if (!take) return;
    let depth = 0;
    const enter = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      depth += 1;
      setOver(true);
    };
    const leave = () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const drop = (event: DragEvent) => {
      event.preventDefault();
      depth = 0;
      setOver(false);
      if (event.dataTransfer) void droppedFiles(event.dataTransfer).then(take);
    };
    const allow = (event: DragEvent) => event.preventDefault();
    const paste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length > 0) take(files.map((file) => ({ file, folder: [] })));
    };
    const abort = new AbortController();
    const { signal } = abort;
    window.addEventListener('dragenter', enter, { signal });
    window.addEventListener('dragleave', leave, { signal });
    window.addEventListener('dragover', allow, { signal });
    window.addEventListener('drop', drop, { signal });
    window.addEventListener('paste', paste, { signal });
    return () => abort.abort();
  }, [take]);
  return over;
}
