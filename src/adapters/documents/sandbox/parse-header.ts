import type { Static, TSchema } from 'typebox';
import Value from 'typebox/value';
import type { Header } from './frames.ts';

/** Returns the header of a frame if it has the form of a schema. @throws TypeError */
export function parseHeader<Schema extends TSchema>(schema: Schema, header: Header): Static<Schema> {
  if (!Value.Check(schema, header)) throw new TypeError('the header of a frame has the wrong form');
  return header;
}
