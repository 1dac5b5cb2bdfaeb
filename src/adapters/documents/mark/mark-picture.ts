import type { Sharp } from 'sharp';
import type { PageSize } from '#ports/documents.ts';
import { markPlaces } from './mark-layout.ts';
import type { TextOutline } from './text-outline.ts';

const pathOf = ({ steps }: TextOutline) =>
  steps.map(({ operator, coordinates }) => operator + coordinates.map((value) => value.toFixed(3)).join(' ')).join('');

/** Returns an SVG of the marks for an image. Its text is drawn as paths, so no font is looked up. @param size in pixels */
export function markSvg(mark: TextOutline, { width, height }: PageSize): Buffer {
  const uses = markPlaces(mark, { width, height }).map(
    (place) => `<use href="#l" transform="matrix(1 0 0 -1 0 ${height}) matrix(${place.map((value) => value.toFixed(4)).join(' ')})"/>`,
  );
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs><path id="l" d="${pathOf(mark)}"/></defs>` +
      `<g fill="#fff" fill-opacity=".45" stroke="#000" stroke-opacity=".35" stroke-width=".03">${uses.join('')}</g></svg>`,
  );
}

/** Lays a picture with four bytes for each pixel over an image of the same size. */
export const composite = (image: Sharp, pixels: Buffer, { width, height }: PageSize): Sharp =>
  image.composite([{ input: pixels, raw: { width, height, channels: 4 } }]);
