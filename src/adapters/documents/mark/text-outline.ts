import { Buffer, Direction, shape } from 'harfbuzzjs';
import type { MarkFont, MarkFonts } from './fonts.ts';
import { type TextRun, textRuns } from './text-runs.ts';

/** A step of an outline: move, line, cubic curve or close, and its coordinates. */
export interface OutlineStep {
  readonly operator: 'M' | 'L' | 'C' | 'Z';
  /** x and y alternate; y grows upwards. */
  readonly coordinates: readonly number[];
}

/** The outlines of the glyphs of a line of text: its font size is 1, and its baseline is at y = 0. */
export interface TextOutline {
  readonly steps: readonly OutlineStep[];
  readonly width: number;
}

type Point = readonly [number, number];

/** Returns a quadratic curve as a cubic one: PDF has only cubic curves. */
function cubicOf([x0, y0]: Point, [x1, y1]: Point, [x2, y2]: Point): readonly number[] {
  const between = (from: number, to: number) => from + (2 / 3) * (to - from);
  return [between(x0, x1), between(y0, y1), between(x2, x1), between(y2, y1), x2, y2];
}

const pointAt = (coordinates: readonly number[], index: number): Point => [coordinates[index] ?? 0, coordinates[index + 1] ?? 0];

/** Returns the outline of one glyph. @param origin of the glyph in the line */
function glyphOutline({ font, unitsPerEm }: MarkFont, glyph: number, origin: Point): OutlineStep[] {
  const steps: OutlineStep[] = [];
  let position: Point = [0, 0];
  for (const { type, values } of font.glyphToJson(glyph)) {
    const coordinates = values.map((value, index) => value / unitsPerEm + (origin[index % 2] ?? 0));
    if (type === 'Q') steps.push({ operator: 'C', coordinates: cubicOf(position, pointAt(coordinates, 0), pointAt(coordinates, 2)) });
    else if (type === 'M' || type === 'L' || type === 'C' || type === 'Z') steps.push({ operator: type, coordinates });
    if (coordinates.length > 0) position = pointAt(coordinates, coordinates.length - 2);
  }
  return steps;
}

function shapeRun({ text, isRightToLeft, font }: TextRun) {
  const buffer = new Buffer();
  buffer.addText(text);
  buffer.guessSegmentProperties();
  buffer.setDirection(isRightToLeft ? Direction.RTL : Direction.LTR);
  shape(font.font, buffer);
  return buffer.getGlyphInfosAndPositions();
}

/** Returns the outlines of a line of text in any script that a font has; other characters are written as code points in brackets. */
export function outlineText(text: string, fonts: MarkFonts): TextOutline {
  const steps: OutlineStep[] = [];
  let width = 0;
  for (const run of textRuns(text, fonts.forText(text))) {
    const { unitsPerEm } = run.font;
    for (const { codepoint, xOffset = 0, yOffset = 0, xAdvance = 0 } of shapeRun(run)) {
      steps.push(...glyphOutline(run.font, codepoint, [width + xOffset / unitsPerEm, yOffset / unitsPerEm]));
      width += xAdvance / unitsPerEm;
    }
  }
  return { steps, width };
}
