import type { Pixels } from './paint-trace.ts';

/** A value for each pixel of a picture. */
export interface Differences {
  readonly values: Float32Array;
  readonly width: number;
  readonly height: number;
}

const radius = 12; // px
const neighbourCount = 24;
const maxDifference = 9; // levels: larger differences belong to the content of the page
const minNeighbours = 7;
const goldenAngle = Math.PI * (3 - Math.sqrt(5));

/** Returns the neighbours of a pixel, spread evenly over a disc. */
function neighbourOffsets(): readonly { readonly x: number; readonly y: number }[] {
  return Array.from({ length: neighbourCount }, (_, index) => {
    const distance = radius * Math.sqrt((index + 1) / neighbourCount);
    return { x: Math.round(distance * Math.cos(index * goldenAngle)), y: Math.round(distance * Math.sin(index * goldenAngle)) };
  });
}

/**
 * Returns by how much each pixel is lighter than those around it that are about as light; 0 at the border and where too few are. So the
 * letters and edges of a page add nothing, and the cells of a trace mark remain. `data` has one grey byte for each pixel.
 */
export function smallDifferences({ data, width, height }: Pixels): Differences {
  const values = new Float32Array(width * height);
  const steps = Int32Array.from(neighbourOffsets(), ({ x, y }) => y * width + x);
  for (let row = radius; row < height - radius; row += 1)
    for (let column = radius; column < width - radius; column += 1) {
      const pixel = row * width + column;
      const level = data[pixel] ?? 0;
      let [sum, count] = [0, 0];
      for (let index = 0; index < neighbourCount; index += 1) {
        const difference = level - (data[pixel + (steps[index] ?? 0)] ?? 0);
        if (difference >= maxDifference || difference <= -maxDifference) continue;
        sum += difference;
        count += 1;
      }
      if (count >= minNeighbours) values[pixel] = sum / count;
    }
  return { values, width, height };
}

/** Returns a part of the values. */
export function cropDifferences({ values, width }: Differences, left: number, top: number, size: Omit<Differences, 'values'>): Differences {
  const cropped = new Float32Array(size.width * size.height);
  for (let row = 0; row < size.height; row += 1) {
    const start = (top + row) * width + left;
    cropped.set(values.subarray(start, start + size.width), row * size.width);
  }
  return { values: cropped, ...size };
}
