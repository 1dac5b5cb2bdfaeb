import sharp, { type Sharp } from 'sharp';
import type { MarkFonts } from '#adapters/documents/mark/fonts.ts';
import { composite, markSvg } from '#adapters/documents/mark/mark-picture.ts';
import { outlineText } from '#adapters/documents/mark/text-outline.ts';
import { type Frame, noBytes } from '#adapters/documents/sandbox/frames.ts';
import { parseHeader } from '#adapters/documents/sandbox/parse-header.ts';
import { TaskRefused } from '#adapters/documents/sandbox/serve-tasks.ts';
import { scaleTo } from '#adapters/documents/scale-to.ts';
import { findTrace, searchedSize } from '#adapters/documents/trace/find-trace.ts';
import { type Pixels, paintTraceOnTransparent } from '#adapters/documents/trace/paint-trace.ts';
import type { PageMark, PageSize, PictureBounds } from '#ports/documents.ts';
import { ImageTask } from './image-tasks.ts';

const maxPixels = 60_000_000;
const maxMarkedPixels = 8_000_000; // of the picture of the marks; it is enlarged for larger images
const lossyOptions = { quality: 85 };
/** The only decoders that are given bytes from outside. The SVG decoder reads only the picture of the marks. */
const decoders = ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'];
const svgDecoder = 'VipsForeignLoadSvgBuffer';
type Format = 'jpeg' | 'png' | 'webp';
const isFormat = (format: string): format is Format => format === 'jpeg' || format === 'png' || format === 'webp';

/** An image as it is seen: upright, in sRGB, and without metadata. Of an animation, the first frame. */
interface SeenImage {
  readonly image: Sharp;
  readonly format: Format;
  readonly size: PageSize;
}

/** @throws TaskRefused: `damaged` or `tooLarge` */
async function openImage(bytes: Uint8Array): Promise<SeenImage> {
  try {
    const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error', animated: false }).autoOrient().toColourspace('srgb');
    const { format, autoOrient } = await image.metadata();
    if (!isFormat(format)) throw new TaskRefused('damaged');
    return { image, format, size: autoOrient };
  } catch (cause) {
    if (cause instanceof TaskRefused) throw cause;
    throw new TaskRefused(cause instanceof Error && cause.message.includes('pixel limit') ? 'tooLarge' : 'damaged');
  }
}

/** Returns the size of an image that is scaled to some bounds, but never enlarged. */
function scaledTo(bounds: PictureBounds, size: PageSize): PageSize {
  const scale = Math.min(1, scaleTo(bounds, size));
  return { width: Math.max(1, Math.round(size.width * scale)), height: Math.max(1, Math.round(size.height * scale)) };
}

/** Runs the tasks of a process that decodes and encodes images. */
export class ImageTasks {
  readonly #fonts: MarkFonts;

  constructor(fonts: MarkFonts) {
    this.#fonts = fonts;
    sharp.cache(false);
    sharp.concurrency(1);
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: decoders });
  }

  async run({ header, bytes }: Frame): Promise<Frame> {
    const task = parseHeader(ImageTask, header);
    const { image, format, size } = await openImage(bytes);
    if (task.task === 'describe') return { header: { ...size }, bytes: noBytes };
    if (task.task === 'trace') return { header: { trace: findTrace(await this.#greyPixels(image, size)) }, bytes: noBytes };
    if (task.task === 'mark') return this.#output(await this.#marked(image, size, task.mark), format);
    const drawn = scaledTo(task, size);
    const scaled = image.resize(drawn.width, drawn.height, { fit: 'fill' }).flatten({ background: '#fff' });
    return this.#output(await this.#marked(scaled, drawn, task.mark), 'jpeg');
  }

  async #output(image: Sharp, format: Format): Promise<Frame> {
    return { header: { format }, bytes: await this.#read(image.toFormat(format, format === 'png' ? {} : lossyOptions)) };
  }

  /** Returns the bytes of an image. Its pixels are decoded only now. @throws TaskRefused: `damaged` */
  async #read(image: Sharp): Promise<Buffer> {
    try {
      return await image.toBuffer();
    } catch {
      throw new TaskRefused('damaged');
    }
  }

  /** Returns the pixels of an image in grey, scaled down to the size in which trace marks are searched. */
  async #greyPixels(image: Sharp, size: PageSize): Promise<Pixels> {
    const { width, height } = scaledTo({ width: searchedSize, height: searchedSize }, size);
    const scaled = image.resize(width, height, { fit: 'fill' }).flatten({ background: '#fff' }).toColourspace('b-w');
    return { data: await this.#read(scaled.extractChannel(0).raw()), width, height };
  }

  /** Returns an image with a mark over it; without a mark, the image. */
  async #marked(image: Sharp, size: PageSize, mark: PageMark | null): Promise<Sharp> {
    return mark === null ? image : composite(image, await this.#pictureOf(mark, size), size);
  }

  /** Returns the picture of a mark, with four bytes for each pixel. */
  async #pictureOf({ text, traceId }: PageMark, size: PageSize): Promise<Buffer> {
    const scale = Math.min(1, Math.sqrt(maxMarkedPixels / (size.width * size.height)));
    const drawn = { width: Math.ceil(size.width * scale), height: Math.ceil(size.height * scale) };
    sharp.unblock({ operation: [svgDecoder] });
    try {
      const picture = sharp(markSvg(outlineText(text, this.#fonts), drawn)).resize(size.width, size.height, { fit: 'fill' });
      const data = await picture.ensureAlpha().raw().toBuffer();
      paintTraceOnTransparent({ data, ...size }, traceId);
      return data;
    } finally {
      sharp.block({ operation: [svgDecoder] });
    }
  }
}
