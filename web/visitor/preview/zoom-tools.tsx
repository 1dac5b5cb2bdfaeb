import type { ComponentChildren } from 'preact';
import { Icon } from '#kit/icons.tsx';
import { useTranslation } from '#visitor/translations/use-translation.ts';

const [minScale, maxScale, zoomStep] = [0.25, 4, 1.25];

interface Properties {
  readonly scale: number;
  readonly setScale: (scale: number) => void;
  readonly children?: ComponentChildren;
}

/** The buttons that make pages smaller and larger, followed by the children. */
export function ZoomTools({ scale, setScale, children }: Properties) {
  const { translate, format } = useTranslation();
  const zoom = (factor: number) => setScale(Math.min(maxScale, Math.max(minScale, scale * factor)));
  return (
    <div class="pdf-tools">
      <button type="button" class="icon-button" onClick={() => zoom(1 / zoomStep)} disabled={scale <= minScale}>
        <Icon name="minus" />
        <span class="for-reader">{translate('smaller')}</span>
      </button>
      <span class="small">{format.number(Math.round(scale * 100))} %</span>
      <button type="button" class="icon-button" onClick={() => zoom(zoomStep)} disabled={scale >= maxScale}>
        <Icon name="plus" />
        <span class="for-reader">{translate('larger')}</span>
      </button>
      {children}
    </div>
  );
}
