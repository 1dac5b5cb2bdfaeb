import { asProblem, Problem } from '#console/api/call.ts';
import type { ProfileValues } from './profile-values.ts';

const detailTexts: readonly (readonly [RegExp, string])[] = [
  [/fewer than|required/, 'is needed'],
  [/secret itself/, 'is needed: none is kept yet'],
];

/** A fault of the configuration, at the form's field that it names. */
function assignToField(detail: string, fields: readonly string[]) {
  const [, name = ''] = /^\/?(\w+)/.exec(detail) ?? [];
  const field = fields.includes(name) ? name : 'configuration';
  const words = field === 'configuration' ? undefined : detailTexts.find(([pattern]) => pattern.test(detail))?.[1];
  return { field, detail: words ?? (field === 'configuration' ? detail : detail.replace(/^\/?[\w.]+ /, '')) };
}

/** Runs a change of a login profile; what is refused of its configuration is told where it was typed. */
export async function withConfigurationErrors<T>(values: ProfileValues, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (cause) {
    const { status, code, message, fieldErrors: faults, retryAfter } = asProblem(cause);
    const at = faults.map((fault) => (fault.field === 'configuration' ? assignToField(fault.detail, Object.keys(values)) : fault));
    throw new Problem(status, code, message, at, retryAfter);
  }
}
