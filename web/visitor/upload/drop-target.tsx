import { useEffect, useState } from 'preact/hooks';
import { droppedFiles } from './dropped-files.ts';
import type { Upload } from './uploads.ts';

const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
/** Something stands in front of the page: what would come of a drop is not seen. */
const isCovered = () => document.querySelector('dialog[open]') !== null;

/** While something is dragged over the page, the whole page is the target; what is pasted counts as dropped. */
export function useDrop(take: ((files: readonly Upload[]) => void) | null): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    if (!take) return;
    let depth = 0;
    const enter = (event: DragEvent) => {
      if (!holdsFiles(event) || isCovered()) return;
      depth += 1;
      setOver(true);
    };
    const leave = () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      event.preventDefault(); // else the browser leaves the page for the file
      depth = 0;
      setOver(false);
      if (event.dataTransfer && !isCovered()) void droppedFiles(event.dataTransfer).then(take);
    };
    const allow = (event: DragEvent) => holdsFiles(event) && event.preventDefault();
    const paste = (event: ClipboardEvent) => {
      if (isCovered()) return;
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
