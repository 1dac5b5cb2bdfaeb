import type { ServerResponse } from 'node:http';
import { checkCaller } from '#features/callers/check-caller.ts';
import { locationTurns } from '#features/locations/location-turns.ts';
import { type AnyRead, type AnyStream, type Caller, type CallerTurns, callerKey, type RunInTurn } from '#features/operation.ts';
import { fileTurns } from '#features/turns/file-turns.ts';
import { type ClientTurns, callerGroups, reportTurns } from '#features/turns/search-turns.ts';
import { testTurns } from '#features/turns/test-turns.ts';
import { textTurns } from '#features/turns/text-turns.ts';
import { disconnectSignal } from '#http/connections/disconnect.ts';
import type { Ports } from '#ports/ports.ts';

/** Returns the turns for the queries of a read operation, and for writing a long response. */
export type ReadTurns = (operation: AnyRead | AnyStream, parameters: unknown, caller: Caller, response: ServerResponse) => CallerTurns;

/** Creates the queues of reports, tests, examined files, reads of one location, and long texts. @param searches queue of searches, also used by portals */
export function readTurns({ store, clock }: Pick<Ports, 'store' | 'clock'>, searches: ClientTurns): ReadTurns {
  const locations = locationTurns();
  const reports = reportTurns();
  const tests = testTurns();
  const files = fileTurns();
  const texts = textTurns();
  function queryTurns(operation: AnyRead | AnyStream, parameters: unknown, caller: Caller, clientGone: () => AbortSignal): RunInTurn {
    const { tid } = caller;
    const groups = callerGroups(callerKey(caller));
    if ('stream' in operation) {
      // A client that reads slowly may lose its rights before the end of the response.
      return (query) =>
        searches.run({ tid, groups }, clientGone(), async () => {
          await checkCaller(store.read, caller, operation.role, clock.now());
          return query();
        });
    }
    if (operation.isSearch) return (query) => searches.run({ tid, groups }, clientGone(), query);
    if (operation.isReport) return (query) => reports.queries.run({ tid, groups }, clientGone(), query);
    if (operation.isTest) return (query) => tests.run({ tid, groups }, clientGone(), query);
    if (operation.examinesFile) return (query) => files.run({ tid, groups }, clientGone(), query);
    const location = operation.locationName?.(parameters);
    return location === undefined
      ? (query) => query()
      : (query) => locations.run({ tid, caller: callerKey(caller), location }, clientGone(), query);
  }
  return (operation, parameters, caller, response) => {
    let signal: AbortSignal | undefined; // shared by all turns of a request: each `disconnectSignal` adds a listener
    const clientGone = () => {
      signal ??= disconnectSignal(response);
      return signal;
    };
    const client = { tid: caller.tid, groups: callerGroups(callerKey(caller)) };
    const inTurn = queryTurns(operation, parameters, caller, clientGone);
    const isReport = 'read' in operation && operation.isReport;
    return {
      inTurn,
      // A report takes one turn as a whole, and another one for each of its long queries.
      readInTurn: isReport ? (read) => reports.reports.run(client, clientGone(), read) : inTurn,
      writeInTurn: (write) => texts.run(client, clientGone(), write),
    };
  };
}
