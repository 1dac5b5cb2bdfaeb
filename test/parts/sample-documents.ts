import { degrees, PDFDocument } from '@cantoo/pdf-lib';
import sharp from 'sharp';

/** The text in the pages and the attachment of `samplePdf`, where streams are compressed, and in the text files of tests. */
export const sampleText = 'CONFIDENTIAL ORIGINAL';

/** Returns a PDF with three pages: upright, rotated by 90 degrees, and cropped to 200 x 100 points. It has an attachment. */
export async function samplePdf(): Promise<Buffer> {
  const document = await PDFDocument.create();
  for (let index = 0; index < 3; index += 1) document.addPage([400, 600]).drawText(sampleText, { x: 40, y: 300, size: 18 });
  const [, rotated, cropped] = document.getPages();
  rotated?.setRotation(degrees(90));
  cropped?.setCropBox(20, 250, 200, 100);
  await document.attach(Buffer.from(sampleText), 'attached.txt', { mimeType: 'text/plain' });
  return Buffer.from(await document.save({ useObjectStreams: false }));
}

/** Returns a JPEG of 600 x 400 pixels that must be rotated to be upright. Its metadata contain a GPS latitude. */
export const samplePhoto = (): Promise<Buffer> =>
  sharp({ create: { width: 600, height: 400, channels: 3, background: '#264' } })
    .withMetadata({ orientation: 6 })
    .withExif({ IFD3: { GPSLatitude: '52/1 30/1 0/1', GPSLatitudeRef: 'N' } })
    .jpeg()
    .toBuffer();
