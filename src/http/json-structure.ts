import { exceededJsonLimit } from '#core/json-structure.ts';
import { Refusal } from '#core/messages.ts';

/** A body of the REST API has at most four levels. A thousand users with all fields need less than half of `values`. */
const limits = { depth: 32, values: 50_000 };

/** Refuses JSON with more levels or values than any request needs, before it is parsed. @throws Refusal (400, 413) */
export function checkJsonStructure(body: Buffer): void {
  switch (exceededJsonLimit(body, limits)) {
    case 'depth':
      throw new Refusal('bodyMalformed', `The body is nested too deeply: at most ${limits.depth} levels are allowed.`);
    case 'values':
      throw new Refusal(
        'bodyTooLarge',
        `The body has too many names and values: at most ${limits.values} are allowed. Send several requests.`,
      );
  }
}
