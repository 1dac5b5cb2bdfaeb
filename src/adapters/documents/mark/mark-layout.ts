import type { PageSize } from '#ports/documents.ts';
import type { TextOutline } from './text-outline.ts';

/** A matrix of PDF: a point (x, y) goes to (a x + c y + e, b x + d y + f). */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

const slant = 0.5; // radians
const [cosine, sine] = [Math.cos(slant), Math.sin(slant)];
const rows = [-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7];
const columns = [-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8];
const rowShift = 0.3; // of the distance between columns, so that the gaps of two rows are not one above the other
const gap = 2; // em between two marks of a row
const maxLength = 0.6; // of the diagonal
const maxFontSize = 1 / 14; // of the shorter side
const rowsOnDiagonal = 9;

/**
 * Returns the places of a mark on a page. The mark is repeated at a slant, in at most nine visible rows.
 * @param size of the page as it is seen; the origin is its lower left corner
 */
export function markPlaces({ width }: TextOutline, size: PageSize): readonly Matrix[] {
  const diagonal = Math.hypot(size.width, size.height);
  const fontSize = Math.min((diagonal * maxLength) / Math.max(width, 1), Math.min(size.width, size.height) * maxFontSize);
  const length = width * fontSize;
  const [columnDistance, rowDistance] = [(width + gap) * fontSize, diagonal / rowsOnDiagonal];
  const places = rows.flatMap((row) =>
    columns.map((column): Matrix => {
      const [along, across] = [(column - 0.5 + (row % 2) * rowShift) * columnDistance, row * rowDistance];
      const x = size.width / 2 + along * cosine - across * sine;
      const y = size.height / 2 + along * sine + across * cosine;
      return [fontSize * cosine, fontSize * sine, -fontSize * sine, fontSize * cosine, x, y];
    }),
  );
  const isSeen = ([, , , , x, y]: Matrix) => x > -length && x < size.width && y > -length && y < size.height + fontSize;
  return places.filter(isSeen);
}

/**
 * Returns the matrix from a page as it is seen to the page's own space.
 * @param rotation of the page in degrees
 * @param box the visible part of the page, in the page's own space
 */
export function pageMatrix(
  rotation: number,
  { left, bottom, right, top }: { readonly left: number; readonly bottom: number; readonly right: number; readonly top: number },
): Matrix {
  switch (((rotation % 360) + 360) % 360) {
    case 90:
      return [0, 1, -1, 0, right, bottom];
    case 180:
      return [-1, 0, 0, -1, right, top];
    case 270:
      return [0, -1, 1, 0, left, top];
    default:
      return [1, 0, 0, 1, left, bottom];
  }
}
