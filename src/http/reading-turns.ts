import type { ServerResponse } from 'node:http';
import { locationTurns } from '#features/locations/location-turns.ts';
import type { AnyRead, AnyStream, Caller, InTurn } from '#features/operation.ts';
import type { SearchTurns } from '#features/search-turns.ts';
import { clientLeft } from './client-left.ts';

/** Returns how the queries of a reading operation wait for their turns. */
export type ReadingTurns = (operation: AnyRead | AnyStream, parameters: unknown, caller: Caller, response: ServerResponse) => InTurn;

export function readingTurns(searches: SearchTurns): ReadingTurns {
  const locations = locationTurns();
  return (operation, parameters, { tid, kind, id }, response) => {
    const caller = `${kind} ${id}`;
    if ('stream' in operation || operation.searches) {
      const left = clientLeft(response);
      return (query) => searches.run({ tid, caller }, left, query);
    }
    const location = operation.reads?.(parameters);
    return location === undefined ? (query) => query() : (query) => locations.run({ tid, caller, location }, clientLeft(response), query);
  };
}
