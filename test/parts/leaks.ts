import sharp, { type Sharp } from 'sharp';
import { paintTrace } from '../../src/adapters/documents/trace/paint-trace.ts';

/** A picture in grey, one byte for each pixel. */
export interface GreyPicture {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

const raw = ({ data, width, height }: GreyPicture) => sharp(Buffer.from(data), { raw: { width, height, channels: 1 } });

/** Decodes a picture and converts it to grey. Transparent parts become white. */
export async function readGrey(file: Buffer | Sharp): Promise<GreyPicture> {
  const image = Buffer.isBuffer(file) ? sharp(file, { limitInputPixels: false }) : file;
  const { data, info } = await image.flatten({ background: '#fff' }).greyscale().raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const grey = channels === 1 ? data : data.filter((_, byte) => byte % channels === 0);
  return { data: grey, width, height };
}

/** Returns an empty page with a trace mark, as a PNG. */
export function blankPage(traceId: number): Promise<Buffer> {
  const [width, height] = [800, 800];
  const data = Buffer.alloc(3 * width * height, 255);
  paintTrace({ data, width, height }, traceId);
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

/** Returns a linear congruential generator of numbers from 0 to below 1. The same seed always gives the same numbers. */
export function fixedRandom(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Adds noise like that of a camera or scanner. @param deviation standard deviation, in levels */
function withNoise({ data, width, height }: GreyPicture, deviation: number): GreyPicture {
  const random = fixedRandom();
  const noise = () => deviation * Math.sqrt(-2 * Math.log(random() || 0.5)) * Math.cos(2 * Math.PI * random());
  return { data: Uint8Array.from(data, (level) => Math.max(0, Math.min(255, level + noise()))), width, height };
}

/** Prints a picture in black dots (error diffusion by Floyd and Steinberg). */
function withDots({ data, width, height }: GreyPicture): GreyPicture {
  const levels = Float32Array.from(data);
  const dots = new Uint8Array(data.length);
  const pass = (pixel: number, error: number) => {
    levels[pixel] = (levels[pixel] ?? 0) + error;
  };
  for (let pixel = 0; pixel < dots.length; pixel += 1) {
    const level = levels[pixel] ?? 0;
    dots[pixel] = level < 128 ? 0 : 255;
    const error = level - (dots[pixel] ?? 0);
    pass(pixel + 1, (error * 7) / 16);
    pass(pixel + width - 1, (error * 3) / 16);
    pass(pixel + width, (error * 5) / 16);
    pass(pixel + width + 1, error / 16);
  }
  return { data: dots, width, height };
}

/**
 * Simulates a print and a scan of a page that was drawn at 150 dpi: slightly blurred dots at 600 dpi, a sheet that lies askew, a scale
 * that is not exact, grey paper, noise, and a JPEG.
 */
export async function printAndScan(page: GreyPicture): Promise<Buffer> {
  const finer = await readGrey(
    raw(page)
      .resize(4 * page.width, 4 * page.height, { kernel: 'cubic' })
      .png(),
  );
  const print = raw(withDots(finer)).blur(2).rotate(0.7, { background: '#fff' }).png();
  const sheet = sharp(await print.toBuffer(), { limitInputPixels: false });
  const scan = sheet
    .resize(Math.round(1.01 * page.width))
    .blur(0.7)
    .linear(0.84, 30);
  return raw(withNoise(await readGrey(scan), 4))
    .jpeg({ quality: 80 })
    .toBuffer();
}

/** Simulates a photograph of a page: slightly from the side, askew, unevenly lit, blurred, with noise, and as a JPEG. */
export async function photograph({ data, width, height }: GreyPicture): Promise<Buffer> {
  const [cosine, sine] = [1.04 * Math.cos(0.035), 1.04 * Math.sin(0.035)];
  const seen = new Uint8Array(data.length).fill(90);
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1) {
      const distance = 1 + (0.02 * column) / width + (0.015 * row) / height;
      const [x, y] = [(cosine * column - sine * row) / distance, (sine * column + cosine * row - 0.02 * height) / distance];
      const light = 0.72 + (0.2 * column) / width - (0.12 * row) / height;
      if (x >= 0 && y >= 0 && x < width - 1 && y < height - 1)
        seen[row * width + column] = light * (data[Math.floor(y) * width + Math.floor(x)] ?? 0);
    }
  const photo = await readGrey(raw({ data: seen, width, height }).blur(0.9).png());
  return raw(withNoise(photo, 5)).jpeg({ quality: 80 }).toBuffer();
}

/** What somebody may do to a picture with a trace mark before its mark is searched. */
export const leaks: Readonly<Record<string, (page: GreyPicture) => Promise<Buffer>>> = {
  'as it is': (page) => raw(page).png().toBuffer(),
  're-encoded as a JPEG of quality 50': (page) => raw(page).jpeg({ quality: 50 }).toBuffer(),
  're-encoded as a WebP of quality 40': (page) => raw(page).webp({ quality: 40 }).toBuffer(),
  'scaled down to a half': ({ width, ...page }) =>
    raw({ width, ...page })
      .resize(Math.round(width / 2))
      .jpeg()
      .toBuffer(),
  'scaled up': ({ width, ...page }) =>
    raw({ width, ...page })
      .resize(Math.round(1.4 * width))
      .jpeg()
      .toBuffer(),
  'cropped to a sixth': ({ width, height, data }) =>
    raw({ width, height, data })
      .extract({
        left: Math.round(0.3 * width),
        top: Math.round(0.4 * height),
        width: Math.round(0.55 * width),
        height: Math.round(0.3 * height),
      })
      .jpeg()
      .toBuffer(),
  'turned upside down': (page) => raw(page).rotate(180).jpeg().toBuffer(),
  'turned by 3 degrees': async (page) =>
    sharp(await raw(page).png().toBuffer())
      .rotate(3)
      .jpeg()
      .toBuffer(),
  'printed at 150 dpi and scanned': printAndScan,
  photographed: photograph,
};
