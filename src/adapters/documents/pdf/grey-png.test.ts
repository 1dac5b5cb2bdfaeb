import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { encodeGreyPng } from './grey-png.ts';

const [width, height] = [40, 30];

/** Returns a picture whose pixel at `x` and `y` has the colour that a function returns. */
function pictureOf(colourAt: (x: number, y: number) => readonly [number, number, number]) {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) data.set(colourAt(x, y), (y * width + x) * 3);
  return { data, width, height };
}
const grey = (value: number) => [value, value, value] as const;

test('a page in black and white becomes a PNG with the same pixels', async () => {
  const picture = pictureOf((x, y) => grey(x > 20 && y % 7 === 3 ? 40 : 255));
  const png = encodeGreyPng(picture, null);
  assert.ok(png);
  const { data, info } = await sharp(png).toColourspace('srgb').removeAlpha().raw().toBuffer({ resolveWithObject: true });
  assert.deepEqual([info.width, info.height, info.channels, Buffer.from(picture.data).equals(data)], [width, height, 3, true]);
});

test('a page with a coloured pixel does not become a PNG, nor does a varied page such as a scan', () => {
  assert.equal(
    encodeGreyPng(
      pictureOf((x, y) => (x === 39 && y === 29 ? [255, 0, 0] : grey(255))),
      null,
    ),
    null,
  );
  assert.equal(
    encodeGreyPng(
      pictureOf((x, y) => grey((x * 7 + y * 13) % 256)),
      null,
    ),
    null,
  );
});
