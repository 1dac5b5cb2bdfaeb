import Type, { type Static } from 'typebox';
import { MarkSchema } from '#adapters/documents/mark/mark-schema.ts';

// The messages between Postern and the process that reads PDF documents.

const Count = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const Position = Type.Integer({ minimum: 0, maximum: 2 ** 31 });
const Pixels = Type.Integer({ minimum: 1, maximum: 65_536 });
const Points = Type.Number({ minimum: 0, maximum: 1e9 });

/** Opens the document that the bytes of the frame contain, and keeps it under an id. */
const OpenTask = Type.Object({ task: Type.Literal('open'), id: Type.String() });
/** Draws a page that nobody sees, so that the code is compiled and the fonts are loaded before there is a document. */
const WarmUpTask = Type.Object({ task: Type.Literal('warmUp') });
/** Returns the width and height of each page of the document, in points. */
const PagesTask = Type.Object({ task: Type.Literal('pages'), id: Type.String() });
/** Returns a page as a picture of at most `width` and `height` pixels (null: no limit), with the mark over it, if there is one. */
const DrawTask = Type.Object({
  task: Type.Literal('draw'),
  id: Type.String(),
  index: Count,
  width: Pixels,
  height: Type.Union([Pixels, Type.Null()]),
  mark: Type.Union([MarkSchema, Type.Null()]),
});
/** Returns the text of a page in UTF-8. */
const TextTask = Type.Object({ task: Type.Literal('text'), id: Type.String(), index: Count });
/** Returns the document with the mark over every page. */
const MarkTask = Type.Object({ task: Type.Literal('mark'), id: Type.String(), mark: MarkSchema });
/** Searches a page for a trace mark. */
const TraceTask = Type.Object({ task: Type.Literal('trace'), id: Type.String(), index: Count });

/** Appends an empty place for a signature to the PDF in the frame. Returns only the bytes after the first `kept` bytes of the new file. */
const PlaceTask = Type.Object({ task: Type.Literal('place'), at: Type.Number(), reason: Type.String() });

export const PdfTask = Type.Union([WarmUpTask, OpenTask, PagesTask, DrawTask, TextTask, MarkTask, TraceTask, PlaceTask]);
export type PdfTask = Static<typeof PdfTask>;

export const PagesAnswer = Type.Object({ pages: Type.Array(Type.Object({ width: Points, height: Points })) });
export const DrawAnswer = Type.Object({ mediaType: Type.Union([Type.Literal('image/jpeg'), Type.Literal('image/png')]) });
export const PlaceAnswer = Type.Object({ kept: Position, start: Position, end: Position });
