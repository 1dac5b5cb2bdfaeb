import Type, { type Static } from 'typebox';
import { MarkSchema } from '#adapters/documents/mark/mark-schema.ts';

// The headers of the frames (sandbox/frames.ts) between Postern and the process that reads images. The bytes of a task are the image.

const Length = Type.Integer({ minimum: 1, maximum: 1_000_000 });

/** Returns the size of the image. */
const DescribeTask = Type.Object({ task: Type.Literal('describe') });
/** Returns the image as a JPEG, at most `width` and `height` pixels large (null: no limit of the height), with the mark over it, if there is one. */
const DrawTask = Type.Object({
  task: Type.Literal('draw'),
  width: Length,
  height: Type.Union([Length, Type.Null()]),
  mark: Type.Union([MarkSchema, Type.Null()]),
});
/** Returns the image in its own format and size, with the mark over it. */
const MarkTask = Type.Object({ task: Type.Literal('mark'), mark: MarkSchema });
/** Searches the image for a trace mark. */
const TraceTask = Type.Object({ task: Type.Literal('trace') });

export const ImageTask = Type.Union([DescribeTask, DrawTask, MarkTask, TraceTask]);
export type ImageTask = Static<typeof ImageTask>;

export const DescribeAnswer = Type.Object({ width: Length, height: Length });
