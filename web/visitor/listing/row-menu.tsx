import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { useSpeech } from '#visitor/translations/use-translation.ts';

/** What is rarely done with a row: it opens on demand, and closes by Escape or a press elsewhere. */
export function RowMenu({ name, rename, remove }: { name: string; rename: (() => void) | null; remove: (() => void) | null }) {
  const { say } = useSpeech();
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLButtonElement>('.menu-items button')?.focus();
    const outside = ({ target }: Event) => {
      if (target instanceof Node && !box.current?.contains(target)) setOpen(false);
    };
    const byKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('keydown', byKey);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('keydown', byKey);
    };
  }, [open]);
  const act = (doing: () => void) => () => {
    setOpen(false);
    button.current?.focus(); // whoever leaves what comes next is here again
    doing();
  };
  return (
    <span class="menu" ref={box}>
      <button ref={button} type="button" class="icon-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="more" />
        <span class="for-reader">{say('moreFor', { name })}</span>
      </button>
      {open && (
        <div class="menu-items">
          {rename && (
            <button type="button" onClick={act(rename)}>
              {say('rename')}
            </button>
          )}
          {remove && (
            <button type="button" class="loss-text" onClick={act(remove)}>
              {say('delete')}
            </button>
          )}
        </div>
      )}
    </span>
  );
}
