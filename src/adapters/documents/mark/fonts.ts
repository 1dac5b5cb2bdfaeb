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

interface FontFile {
  readonly path: string;
  /** Matches a text that needs the font. */
  readonly needed: RegExp;
}

const { resolve } = createRequire(import.meta.url);

/** Returns a font of a package, or nothing if the package is not installed. @param file relative to the main file of the package */
function inPackage(name: string, file: string, needed: RegExp): readonly FontFile[] {
  try {
    return [{ path: join(dirname(resolve(name)), file), needed }];
  } catch {
    return [];
  }
}

/** Returns a font for one script. @param script name of the script in Unicode and of the font */
const noto = (script: string) =>
  inPackage(
    `@expo-google-fonts/noto-sans-${script.toLowerCase()}`,
    `400Regular/NotoSans${script}_400Regular.ttf`,
    new RegExp(`\\p{Script=${script}}`, 'u'),
  );

/**
 * Returns the font files, in the order in which they are tried. Chinese characters look different in Japanese, Korean and Chinese: the font
 * of the other characters in the text comes first. The licence of the fonts (OFL-1.1) does not apply to documents that use them.
 */
const fontFiles = (): readonly FontFile[] => [
  ...inPackage('@embedpdf/fonts-latin', '../fonts/NotoSans-Regular.ttf', /^/),
  ...inPackage('@embedpdf/fonts-arabic', '../fonts/NotoNaskhArabic-Regular.ttf', /\p{Script=Arabic}/u),
  ...inPackage('@embedpdf/fonts-hebrew', '../fonts/NotoSansHebrew-Regular.ttf', /\p{Script=Hebrew}/u),
  ...['Thai', 'Armenian', 'Georgian', 'Bengali', 'Tamil', 'Telugu', 'Gujarati', 'Gurmukhi', 'Kannada', 'Malayalam'].flatMap(noto),
  ...['Sinhala', 'Khmer', 'Lao', 'Myanmar', 'Ethiopic'].flatMap(noto),
  ...inPackage('@embedpdf/fonts-jp', '../fonts/NotoSansJP-Regular.otf', /[\p{Script=Hiragana}\p{Script=Katakana}]/u),
  ...inPackage('@embedpdf/fonts-kr', '../fonts/NotoSansKR-Regular.otf', /\p{Script=Hangul}/u),
  ...inPackage('@embedpdf/fonts-sc', '../fonts/NotoSansHans-Regular.otf', /\p{Script=Han}/u),
];

function openFont(path: string): MarkFont {
  const face = new Face(new Blob(readFileSync(path)), 0);
  return { font: new Font(face), unitsPerEm: face.upem, codePoints: new Set(face.collectUnicodes()) };
}

/** The fonts of marks. Each is opened when a text needs it. */
export class MarkFonts {
  readonly #files = fontFiles();
  readonly #fonts = new Map<string, MarkFont>();

  /** Returns the fonts that a text may need, in the order in which they are tried. */
  forText(text: string): readonly MarkFont[] {
    return this.#files.filter(({ needed }) => needed.test(text)).map(({ path }) => this.#open(path));
  }

  #open(path: string): MarkFont {
    const font = this.#fonts.get(path) ?? openFont(path);
    this.#fonts.set(path, font);
    return font;
  }
}
