import sharp, { type Sharp } from 'sharp';
import type { MarkFont } from '#adapters/documents/mark/fonts.ts';
import { composite, markSvg } from '#adapters/documents/mark/mark-picture.ts';
import { outlineText } from '#adapters/documents/mark/text-outline.ts';
import type { Frame } from '#adapters/documents/sandbox/frames.ts';
import { parseHeader } from '#adapters/documents/sandbox/parse-header.ts';
import { TaskRefused } from '#adapters/documents/sandbox/serve-tasks.ts';
import { ImageTask } from './image-tasks.ts';

const maxPixels = 60_000_000;
const maxMarkedPixels = 8_000_000; // of the picture of the marks; it is enlarged for larger images
const jpegOptions = { quality: 85 };
/** The only decoders that may run. Others are never given bytes from outside. */
const decoders = ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'];
const svgDecoder = 'VipsForeignLoadSvgBuffer';
const formats = new Set(['jpeg', 'png', 'webp']);
const noBytes = new Uint8Array();

interface Size {
  readonly width: number;
  readonly height: number;
}

/** An image as it is seen: upright, in sRGB, and without metadata. Of an animation, the first frame. */
interface SeenImage {
  readonly image: Sharp;
  readonly format: string;
  readonly size: Size;
}

/** @throws TaskRefused: `damaged` or `tooLarge` */
async function openImage(bytes: Uint8Array): Promise<SeenImage> {
  try {
    const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error', animated: false }).autoOrient().toColourspace('srgb');
    const { format, autoOrient } = await image.metadata();
    if (!formats.has(format)) throw new TaskRefused('damaged');
    return { image, format, size: autoOrient };
  } catch (cause) {
    if (cause instanceof TaskRefused) throw cause;
    throw new TaskRefused(cause instanceof Error && cause.message.includes('pixel limit') ? 'tooLarge' : 'damaged');
  }
}

/** Returns the size of an image that is scaled to a width, but never enlarged. */
function scaledTo(width: number, size: Size): Size {
  if (width >= size.width) return size;
  return { width, height: Math.max(1, Math.round((size.height * width) / size.width)) };
}

/** Runs the tasks of a process that decodes and encodes images. */
export class ImageTasks {
  readonly #fonts: readonly MarkFont[];

  constructor(fonts: readonly MarkFont[]) {
    this.#fonts = fonts;
    sharp.cache(false);
    sharp.concurrency(1);
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: decoders });
  }

  async run({ header, bytes }: Frame): Promise<Frame> {
    const task = parseHeader(ImageTask, header);
    if (task.task === 'encode') return this.#encode(bytes, task);
    const { image, format, size } = await openImage(bytes);
    if (task.task === 'describe') return { header: { ...size }, bytes: noBytes };
    if (task.task === 'mark') return this.#output(await this.#marked(image, size, task.mark), format === 'jpeg' ? 'jpeg' : format);
    const drawn = scaledTo(task.width, size);
    const scaled = image.resize(drawn.width, drawn.height, { fit: 'fill' }).flatten({ background: '#fff' });
    return this.#output(await this.#marked(scaled, drawn, task.mark), 'jpeg');
  }

  async #encode(pixels: Uint8Array, { width, height }: Size): Promise<Frame> {
    return this.#output(sharp(pixels, { raw: { width, height, channels: 4 } }), 'jpeg');
  }

  async #output(image: Sharp, format: string): Promise<Frame> {
    try {
      const encoded = format === 'jpeg' ? image.jpeg(jpegOptions) : format === 'webp' ? image.webp(jpegOptions) : image.png();
      return { header: { format }, bytes: await encoded.toBuffer() };
    } catch {
      throw new TaskRefused('damaged'); // the pixels are decoded only now
    }
  }

  /** Returns an image with the text of a mark over it; without a mark, the image. */
  async #marked(image: Sharp, size: Size, mark: string | null): Promise<Sharp> {
    return mark === null ? image : composite(image, await this.#pictureOf(mark, size), size);
  }

  async #pictureOf(mark: string, size: Size): Promise<Buffer> {
    const scale = Math.min(1, Math.sqrt(maxMarkedPixels / (size.width * size.height)));
    const drawn = { width: Math.ceil(size.width * scale), height: Math.ceil(size.height * scale) };
    sharp.unblock({ operation: [svgDecoder] });
    try {
      const picture = sharp(markSvg(outlineText(mark, this.#fonts), drawn)).resize(size.width, size.height, { fit: 'fill' });
      return await picture.ensureAlpha().raw().toBuffer();
    } finally {
      sharp.block({ operation: [svgDecoder] });
    }
  }
}
