import type { ServerResponse } from 'node:http';
import { checkCaller } from '#features/callers/check-caller.ts';
import { locationTurns } from '#features/locations/location-turns.ts';
import type { AnyRead, AnyStream, Caller, InTurn } from '#features/operation.ts';
import { reportTurns, type SearchTurns } from '#features/turns/search-turns.ts';
import { clientLeft } from '#http/connections/client-left.ts';
import type { Ports } from '#ports/ports.ts';

/** Returns how the queries of a reading operation wait for their turns. */
export type ReadTurns = (operation: AnyRead | AnyStream, parameters: unknown, caller: Caller, response: ServerResponse) => InTurn;

export function readTurns({ store, clock }: Pick<Ports, 'store' | 'clock'>, searches: SearchTurns): ReadTurns {
  const locations = locationTurns();
  const reports = reportTurns();
  return (operation, parameters, by, response) => {
    const { tid } = by;
    const caller = `${by.kind} ${by.id}`;
    if ('stream' in operation) {
      const left = clientLeft(response);
      // An answer that is taken slowly may outlive the right to it.
      return (query) =>
        searches.run({ tid, caller }, left, async () => {
          await checkCaller(store.read, by, operation.role, clock.now());
          return query();
        });
    }
    if (operation.isSearch) return (query) => searches.run({ tid, caller }, clientLeft(response), query);
    if (operation.isReport) return (query) => reports.run({ tid, caller }, clientLeft(response), query);
    const location = operation.locationName?.(parameters);
    return location === undefined ? (query) => query() : (query) => locations.run({ tid, caller, location }, clientLeft(response), query);
  };
}
