import { useEffect, useState } from 'preact/hooks';
import { filesOfDrop } from './dropped-files.ts';
import type { FileToUpload } from './upload-item.ts';

const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
/** Returns whether a dialog covers the page. The result of a drop would not be visible behind it. */
const isCovered = () => document.querySelector('dialog[open]') !== null;

/**
 * Makes the entire page a drop target, and accepts pasted files, unless `onFiles` is null.
 * @returns whether files are being dragged over the page
 */
export function useDropTarget(onFiles: ((files: readonly FileToUpload[]) => void) | null): boolean {
  const [isDragging, setDragging] = useState(false);
  useEffect(() => {
    if (!onFiles) return;
    let depth = 0;
    const enter = (event: DragEvent) => {
      if (!holdsFiles(event) || isCovered()) return;
      depth += 1;
      setDragging(true);
    };
    const leave = () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) setDragging(false);
    };
    const drop = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      event.preventDefault(); // otherwise the browser opens the file instead of the page
      depth = 0;
      setDragging(false);
      if (event.dataTransfer && !isCovered()) void filesOfDrop(event.dataTransfer).then(onFiles);
    };
    const allowDrop = (event: DragEvent) => holdsFiles(event) && event.preventDefault();
    const paste = (event: ClipboardEvent) => {
      if (isCovered()) return;
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length > 0) onFiles(files.map((file) => ({ file, folder: [] })));
    };
    const abort = new AbortController();
    const { signal } = abort;
    window.addEventListener('dragenter', enter, { signal });
    window.addEventListener('dragleave', leave, { signal });
    window.addEventListener('dragover', allowDrop, { signal });
    window.addEventListener('drop', drop, { signal });
    window.addEventListener('paste', paste, { signal });
    return () => abort.abort();
  }, [onFiles]);
  return isDragging;
}
