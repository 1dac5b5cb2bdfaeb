import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Blob, Face, Font } from 'harfbuzzjs';

/** A font, and the characters that it can draw. */
export interface MarkFont {
  readonly font: Font;
  /** Units of the font in one em. */
  readonly unitsPerEm: number;
  readonly codePoints: ReadonlySet<number>;
}

const { resolve } = createRequire(import.meta.url);

/** The font files, in the order in which they are tried. Their licence (OFL-1.1) does not apply to documents that use them. */
const files = [
  { package: '@embedpdf/fonts-latin', name: 'NotoSans-Regular.ttf' },
  { package: '@embedpdf/fonts-arabic', name: 'NotoNaskhArabic-Regular.ttf' },
  { package: '@embedpdf/fonts-hebrew', name: 'NotoSansHebrew-Regular.ttf' },
];

function openFont(path: string): MarkFont {
  const face = new Face(new Blob(readFileSync(path)), 0);
  return { font: new Font(face), unitsPerEm: face.upem, codePoints: new Set(face.collectUnicodes()) };
}

/** Opens the fonts for marks. */
export const openMarkFonts = (): readonly MarkFont[] =>
  files.map((file) => openFont(join(dirname(resolve(file.package)), '../fonts', file.name)));
