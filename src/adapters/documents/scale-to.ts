import type { PageSize, PictureBounds } from '#ports/documents.ts';

/** Returns the largest scale at which the picture of a page fits its bounds. A height of null is no limit. */
export const scaleTo = ({ width, height }: PictureBounds, size: PageSize): number =>
  Math.min(width / size.width, height === null ? Number.POSITIVE_INFINITY : height / size.height);
