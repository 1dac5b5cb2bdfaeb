import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { useTranslation } from '#visitor/translations/use-translation.ts';

/** The menu of a row. Escape or a press outside closes it. */
export function RowMenu({ name, rename, remove }: { name: string; rename: (() => void) | null; remove: (() => void) | null }) {
  const { translate } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    box.current?.querySelector<HTMLButtonElement>('.menu-items button')?.focus();
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !box.current?.contains(target)) setOpen(false);
    };
    const closeByKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('keydown', closeByKey);
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('keydown', closeByKey);
    };
  }, [isOpen]);
  const runAction = (action: () => void) => () => {
    setOpen(false);
    button.current?.focus(); // the dialog of the action returns the focus to this button
    action();
  };
  return (
    <span class="menu" ref={box}>
      <button ref={button} type="button" class="icon-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="more" />
        <span class="for-reader">{translate('moreFor', { name })}</span>
      </button>
      {isOpen && (
        <div class="menu-items">
          {rename && (
            <button type="button" onClick={runAction(rename)}>
              {translate('rename')}
            </button>
          )}
          {remove && (
            <button type="button" class="danger-text" onClick={runAction(remove)}>
              {translate('delete')}
            </button>
          )}
        </div>
      )}
    </span>
  );
}
