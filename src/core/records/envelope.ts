import Type, { type Static } from 'typebox';

/** The common envelope of successful responses. */
export const Envelope = Type.Object({
  timestamp: Type.String({ format: 'date-time', description: 'Time of the response.' }),
  status: Type.Integer({ description: 'HTTP status.' }),
  messageId: Type.Integer({ description: 'Stable number of the message.' }),
  message: Type.String({ description: 'What happened, as a text.' }),
});
export type Envelope = Static<typeof Envelope>;
