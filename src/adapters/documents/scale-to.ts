import type { PageSize, PictureBounds } from '#ports/documents.ts';

/** Returns the scale at which a page fills the bounds of its picture in one direction. */
export const scaleTo = ({ width, height }: PictureBounds, size: PageSize): number =>
  Math.min(width / size.width, height === null ? Number.POSITIVE_INFINITY : height / size.height);
