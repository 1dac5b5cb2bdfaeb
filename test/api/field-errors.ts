import type { TestResponse } from '../start.ts';

/** Returns the names of the fields that a refusal lists, sorted. */
export const fieldErrorsOf = ({ body }: TestResponse): string[] => (body.errors ?? []).map(({ field }: { field: string }) => field).sort();

/** Returns the detail of a field error, or an empty string. */
export const fieldErrorAt = ({ body }: TestResponse, field: string): string =>
  (body.errors ?? []).find((fieldError: { field: string }) => fieldError.field === field)?.detail ?? '';
