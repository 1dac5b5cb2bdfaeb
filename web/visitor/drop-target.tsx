import { useEffect, useState } from 'preact/hooks';

/** While something is dragged over the page, the whole page is the target. */
export function useDrop(take: ((files: File[]) => void) | null): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    if (!take) return;
    let depth = 0;
    const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const enter = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
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
      take([...(event.dataTransfer?.files ?? [])]);
    };
    const allow = (event: DragEvent) => event.preventDefault();
    const paste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length > 0) take(files);
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

/** A button that lets the visitor choose files. */
export function ChooseFiles({
  children,
  className,
  take,
}: {
  children: preact.ComponentChildren;
  className: string;
  take: (files: File[]) => void;
}) {
  return (
    <label class={className}>
      {children}
      <input
        type="file"
        multiple
        class="for-reader"
        onChange={({ currentTarget }) => {
          take([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </label>
  );
}
