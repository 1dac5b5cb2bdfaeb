import Type, { type Static } from 'typebox';

// The messages between Postern and the process that reads images.

const Length = Type.Integer({ minimum: 1, maximum: 1_000_000 });
const Mark = Type.Union([Type.String(), Type.Null()]);

/** Returns the size of the image in the bytes of the frame. */
const DescribeTask = Type.Object({ task: Type.Literal('describe') });
/** Returns the image as a JPEG, at most `width` and `height` pixels large, with the text of `mark` over it. */
const DrawTask = Type.Object({ task: Type.Literal('draw'), width: Length, height: Type.Union([Length, Type.Null()]), mark: Mark });
/** Returns the image in its own format and size, with the text of `mark` over it. */
const MarkTask = Type.Object({ task: Type.Literal('mark'), mark: Type.String() });

export const ImageTask = Type.Union([DescribeTask, DrawTask, MarkTask]);
export type ImageTask = Static<typeof ImageTask>;

export const DescribeAnswer = Type.Object({ width: Length, height: Length });
