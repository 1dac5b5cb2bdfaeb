import { asProblem, Problem } from '#console/api/call.ts';
import type { ProfileValues } from './profile-values.ts';

const detailTexts: readonly (readonly [RegExp, string])[] = [
  [/fewer than|required/, 'is required'],
  [/secret itself/, 'is required: none is stored yet'],
];

/** Assigns an error of the configuration to the form field that its detail names. */
function assignToField(detail: string, fields: readonly string[]) {
  const [, name = ''] = /^\/?(\w+)/.exec(detail) ?? [];
  const field = fields.includes(name) ? name : 'configuration';
  const text = field === 'configuration' ? undefined : detailTexts.find(([pattern]) => pattern.test(detail))?.[1];
  return { field, detail: text ?? (field === 'configuration' ? detail : detail.replace(/^\/?[\w.]+ /, '')) };
}

/**
 * Waits for a change of a login profile and assigns errors of its configuration to form fields.
 * @throws Problem with the field names of the form
 */
export async function withConfigurationErrors<T>(values: ProfileValues, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (cause) {
    const { status, code, message, fieldErrors, retryAfter } = asProblem(cause);
    const assigned = fieldErrors.map((error) =>
      error.field === 'configuration' ? assignToField(error.detail, Object.keys(values)) : error,
    );
    throw new Problem(status, code, message, { fieldErrors: assigned, retryAfter });
  }
}
