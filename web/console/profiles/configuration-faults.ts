import { asProblem, Problem } from '#console/api/call.ts';
import type { ProfileValues } from './profile-values.ts';

const wordsFor: readonly (readonly [RegExp, string])[] = [
  [/fewer than|required/, 'is needed'],
  [/secret itself/, 'is needed: none is kept yet'],
];

/** A fault of the configuration, at the form's field that it names. */
function placed(detail: string, fields: readonly string[]) {
  const [, name = ''] = /^\/?(\w+)/.exec(detail) ?? [];
  const field = fields.includes(name) ? name : 'configuration';
  const words = field === 'configuration' ? undefined : wordsFor.find(([pattern]) => pattern.test(detail))?.[1];
  return { field, detail: words ?? (field === 'configuration' ? detail : detail.replace(/^\/?[\w.]+ /, '')) };
}

/** Runs a change of a login profile; what is refused of its configuration is told where it was typed. */
export async function atItsField<T>(values: ProfileValues, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (cause) {
    const { status, code, message, fieldErrors: faults, retryAfter } = asProblem(cause);
    const at = faults.map((fault) => (fault.field === 'configuration' ? placed(fault.detail, Object.keys(values)) : fault));
    throw new Problem(status, code, message, at, retryAfter);
  }
}
