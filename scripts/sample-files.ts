import { crc32, deflateSync } from 'node:zlib';

function chunk(type: string, body: Buffer): Buffer {
  const typeAndBody = Buffer.concat([Buffer.from(type), body]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  sum.writeUInt32BE(crc32(typeAndBody));
  return Buffer.concat([length, typeAndBody, sum]);
}

/** Returns a PNG image of hills at dusk, drawn with sine curves. */
export function samplePng(width: number, height: number): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const sky = y / height;
      const hills = [0.62, 0.74, 0.86].filter(
        (base, index) => sky > base + 0.05 * Math.sin((x / width) * (5 + index * 3) + index * 2),
      ).length;
      const shade = 1 - hills * 0.28;
      rows.set(
        [(110 + 130 * sky) * shade, (120 + 50 * sky) * shade, (170 - 40 * sky) * shade + hills * 12],
        y * (1 + width * 3) + 1 + x * 3,
      );
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

/** Returns a PDF. @param pages lines of each page; the first line is large */
export function samplePdf(pages: readonly (readonly string[])[]): Buffer {
  const content = (lines: readonly string[]) =>
    lines
      .map((line, index) => `BT /F1 ${index === 0 ? 24 : 11} Tf 72 ${760 - index * 22} Td (${line.replace(/[\\()]/g, '\\$&')}) Tj ET`)
      .join('\n');
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((lines, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
      `<< /Length ${content(lines).length} >>\nstream\n${content(lines)}\nendstream`,
    ]),
  ];
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const table = body.length;
  body += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  return Buffer.from(`${body}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`, 'latin1');
}
