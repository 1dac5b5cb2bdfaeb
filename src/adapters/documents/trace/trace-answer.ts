import Type from 'typebox';

/** The answer of a process that has searched for a trace mark. null: none is found. */
export const TraceAnswer = Type.Object({
  trace: Type.Union([Type.Object({ traceId: Type.Integer({ minimum: 0 }), agreement: Type.Number() }), Type.Null()]),
});
