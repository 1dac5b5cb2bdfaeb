const [quote, backslash] = [0x22, 0x5c]; // " \
const [comma, colon] = [0x2c, 0x3a];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]; // [ ] { }

export interface JsonLimits {
  /** Levels of arrays and objects. */
  readonly depth: number;
  /** Names and values together, counted roughly: by opening brackets, commas and colons. */
  readonly values: number;
}

/** Returns the index of the quote that ends a string, or an index after the text if there is none. @param start after the first quote */
function endOfString(json: Uint8Array, start: number): number {
  let index = start;
  while (index < json.length && json[index] !== quote) index += json[index] === backslash ? 2 : 1;
  return index;
}

/**
 * Returns which limit a JSON text exceeds, or null. Call it before the text is parsed: parsing 1 MB of brackets takes 0.4 s, and the
 * result takes fifty times as much memory.
 * @param json JSON, or anything else
 */
export function exceededJsonLimit(json: Uint8Array, limits: JsonLimits): keyof JsonLimits | null {
  let [depth, values] = [0, 0];
  for (let index = 0; index < json.length; index += 1) {
    switch (json[index]) {
      case quote:
        index = endOfString(json, index + 1);
        break;
      case openArray:
      case openObject:
        depth += 1;
        values += 1;
        if (depth > limits.depth) return 'depth';
        break;
      case closeArray:
      case closeObject:
        depth -= 1;
        break;
      case comma:
      case colon:
        values += 1;
    }
    if (values > limits.values) return 'values';
  }
  return null;
}
