import { Refusal } from '#core/messages.ts';

const maxDepth = 32; // levels; a body of the interface has at most four
const maxValues = 50_000; // names count too. A thousand users with all fields have half as many
const [quote, backslash] = [0x22, 0x5c]; // " \
const [comma, colon] = [0x2c, 0x3a];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]; // [ ] { }

/** Returns the index of the quote that ends a string. @param start of the text of the string */
function endOfString(body: Buffer, start: number): number {
  let index = start;
  while (index < body.length && body[index] !== quote) index += body[index] === backslash ? 2 : 1;
  return index;
}

/**
 * Refuses JSON with more levels or values than any request needs, before it is parsed: parsing 1 MB of brackets would keep the event
 * loop busy for 0.4 s. Takes time in proportion to the length of the body.
 * @param body JSON, or anything else
 * @throws Refusal (400, 413)
 */
export function checkJsonStructure(body: Buffer): void {
  let [depth, values] = [0, 0];
  for (let index = 0; index < body.length; index += 1) {
    switch (body[index]) {
      case quote:
        index = endOfString(body, index + 1);
        break;
      case openArray:
      case openObject:
        depth += 1;
        values += 1;
        if (depth > maxDepth) throw new Refusal('bodyMalformed', `The body is nested too deeply: at most ${maxDepth} levels are possible.`);
        break;
      case closeArray:
      case closeObject:
        depth -= 1;
        break;
      case comma:
      case colon:
        values += 1;
    }
    if (values > maxValues)
      throw new Refusal(
        'bodyTooLarge',
        `The body has too many names and values: at most ${maxValues} are possible. Send several requests.`,
      );
  }
}
