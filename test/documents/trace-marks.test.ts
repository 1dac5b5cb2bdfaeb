import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { findTrace } from '../../src/adapters/documents/trace/find-trace.ts';
import { paintTrace } from '../../src/adapters/documents/trace/paint-trace.ts';
import { fixedRandom, type GreyPicture, leaks, readGrey } from '../parts/leaks.ts';

const traceId = 0xc0_ff_ee_12_34_56;
const size = { width: 1240, height: 1754 }; // A4 at 150 dpi

/** Draws a page of words: dark bars in lines. */
function pageOfWords(): Promise<GreyPicture> {
  const random = fixedRandom(7);
  const words: string[] = [];
  for (let y = 120; y < size.height - 120; y += 26)
    for (let x = 100; x < size.width - 160; ) {
      const width = 12 + 70 * random();
      words.push(`<rect x="${x}" y="${y}" width="${width}" height="${3 + 9 * random()}"/>`);
      x += width + 10;
    }
  return readGrey(
    sharp(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}">${words.join('')}</svg>`)),
  );
}

/** Draws a picture as varied as a photograph: blurred noise of several scales, the finer the fainter. */
async function variedPicture(): Promise<GreyPicture> {
  const scales = [
    { width: 4, weight: 0.5 },
    { width: 16, weight: 0.3 },
    { width: 64, weight: 0.15 },
    { width: 256, weight: 0.05 },
  ];
  const random = fixedRandom(3);
  const layers = await Promise.all(
    scales.map(({ width }) => {
      const data = Buffer.from(Array.from({ length: width * width }, () => 256 * random()));
      return readGrey(
        sharp(data, { raw: { width, height: width, channels: 1 } })
          .resize(size.width, size.height, { fit: 'fill' })
          .png(),
      );
    }),
  );
  const sums = new Float64Array(size.width * size.height);
  for (const [index, layer] of layers.entries()) {
    const weight = scales[index]?.weight ?? 0;
    for (let pixel = 0; pixel < sums.length; pixel += 1) sums[pixel] = (sums[pixel] ?? 0) + weight * (layer.data[pixel] ?? 0);
  }
  const data = Uint8Array.from(sums);
  return { data, ...size };
}

function withTrace({ data, width, height }: GreyPicture, id: number): GreyPicture {
  const colours = new Uint8Array(3 * data.length);
  for (const [pixel, level] of data.entries()) colours.fill(level, 3 * pixel, 3 * pixel + 3);
  paintTrace({ data: colours, width, height }, id);
  return { data: data.map((_, pixel) => colours[3 * pixel] ?? 0), width, height };
}

const pictures = {
  'a page of words': { draw: pageOfWords, ways: Object.keys(leaks) },
  'a varied picture': {
    draw: variedPicture,
    ways: ['as it is', 'scaled down to a half', 'printed at 150 dpi and scanned', 'photographed'],
  },
};

for (const [what, { draw, ways }] of Object.entries(pictures)) {
  let drawing: Promise<GreyPicture> | undefined;
  const drawOnce = () => {
    drawing ??= draw();
    return drawing;
  };
  for (const how of ways)
    test(`the trace mark is found after ${what} was ${how === 'as it is' ? 'left as it is' : how}`, async () => {
      const leak = leaks[how] ?? assert.fail(how);
      const found = findTrace(await readGrey(await leak(withTrace(await drawOnce(), traceId))));
      assert.equal(found?.traceId, traceId);
      assert.ok((found?.agreement ?? 0) > 0.7, `${found?.agreement}`);
    });

  test(`a trace mark changes no pixel of ${what} by more than five levels, and no mark is found in the unmarked picture`, async () => {
    const plain = await drawOnce();
    const marked = withTrace(plain, traceId);
    const largest = marked.data.reduce((max, level, pixel) => Math.max(max, Math.abs(level - (plain.data[pixel] ?? 0))), 0);
    assert.equal(largest, 5);
    assert.equal(findTrace(plain), null);
  });
}

test('marks with the smallest and the largest number are found, and no mark is found on a blank page without one', () => {
  const blank = { data: new Uint8Array(size.width * size.height).fill(255), ...size };
  for (const id of [0, 2 ** 48 - 1]) assert.equal(findTrace(withTrace(blank, id))?.traceId, id);
  assert.equal(findTrace(blank), null);
});
