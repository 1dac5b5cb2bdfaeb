import Type from 'typebox';

/** What is drawn over a page (`PageMark`), in the messages to a process. */
export const MarkSchema = Type.Object({ text: Type.String(), traceId: Type.Integer({ minimum: 0, maximum: 2 ** 48 - 1 }) });
