import { createRequire } from 'node:module';
import type { Bidi } from 'bidi-js';
import type { MarkFont } from './fonts.ts';

/** A part of a text with one direction and one font. */
export interface TextRun {
  readonly text: string;
  readonly isRightToLeft: boolean;
  readonly font: MarkFont;
}

interface LeveledRun {
  text: string;
  /** Odd: right to left (Unicode Bidirectional Algorithm, UAX #9). */
  readonly level: number;
  readonly font: MarkFont;
}

// The types of this package do not fit its CommonJS export.
const bidiOf: () => Bidi = createRequire(import.meta.url)('bidi-js');
const bidi = bidiOf();
const segmenter = new Intl.Segmenter();

const isDrawn = (character: string) => !/^[\p{White_Space}\p{Cf}\p{Cc}]$/u.test(character);

/** Replaces each visible character that no font can draw with its code point in brackets, so that no part of the text is lost unnoticed. */
function nameUndrawable(text: string, fonts: readonly MarkFont[]): string {
  const hasGlyph = (codePoint: number) => fonts.some(({ codePoints }) => codePoints.has(codePoint));
  return [...text]
    .map((character) => {
      const codePoint = character.codePointAt(0) ?? 0;
      return !isDrawn(character) || hasGlyph(codePoint) ? character : `[${codePoint.toString(16).toUpperCase().padStart(4, '0')}]`;
    })
    .join('');
}

/** Returns the font for a grapheme: the previous font if that has all drawn characters, else the first that has, else the first font. */
function fontFor(grapheme: string, previous: MarkFont | undefined, fonts: readonly MarkFont[]): MarkFont | undefined {
  const codePoints = [...grapheme].filter(isDrawn).map((character) => character.codePointAt(0) ?? 0);
  const hasAll = (font: MarkFont) => codePoints.every((codePoint) => font.codePoints.has(codePoint));
  return previous && hasAll(previous) ? previous : (fonts.find(hasAll) ?? fonts[0]);
}

/** Splits a text into runs, in the order in which the text is stored (logical order). */
function splitIntoRuns(text: string, fonts: readonly MarkFont[]): LeveledRun[] {
  const { levels } = bidi.getEmbeddingLevels(text);
  const runs: LeveledRun[] = [];
  for (const { segment, index } of segmenter.segment(text)) {
    const level = levels[index] ?? 0;
    const last = runs.at(-1);
    const font = fontFor(segment, last?.font, fonts);
    if (last && last.level === level && last.font === font) last.text += segment;
    else if (font) runs.push({ text: segment, level, font });
  }
  return runs;
}

/**
 * Brings runs into the order in which they are seen: for each level from the highest to 1, reverses each sequence of runs at this level or
 * above (L2).
 */
function reorder(runs: readonly LeveledRun[]): readonly LeveledRun[] {
  let ordered = [...runs];
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level -= 1) {
    const next: LeveledRun[] = [];
    let reversed: LeveledRun[] = [];
    for (const run of ordered)
      if (run.level >= level) reversed.unshift(run);
      else {
        next.push(...reversed, run);
        reversed = [];
      }
    ordered = [...next, ...reversed];
  }
  return ordered;
}

/** Returns the runs of a text, from left to right as they are seen. */
export function textRuns(text: string, fonts: readonly MarkFont[]): readonly TextRun[] {
  const runs = reorder(splitIntoRuns(nameUndrawable(text, fonts), fonts));
  return runs.map((run) => ({ text: run.text, isRightToLeft: run.level % 2 === 1, font: run.font }));
}
