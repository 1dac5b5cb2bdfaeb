import { asProblem, type FieldError, Problem } from '#console/api/call.ts';

const detailTexts: readonly (readonly [RegExp, string])[] = [
  [/fewer than|required/, 'is required'],
  [/has changed$/, 'is required again, because the server has changed'],
  [/secret itself/, 'is required: none is stored yet'],
];

/** Assigns an error of the configuration to the form fields that its detail names. */
function assignToFields(detail: string, fields: readonly string[], mainField: string): FieldError[] {
  const missing = /must have required properties ([\w, ]+)/.exec(detail)?.[1]?.split(', ') ?? [];
  const missingFields = missing.filter((name) => fields.includes(name));
  return missingFields.length > 0
    ? missingFields.map((field) => ({ field, detail: 'is required' }))
    : [assignToField(detail, fields, mainField)];
}

function assignToField(detail: string, fields: readonly string[], mainField: string): FieldError {
  const [, name = ''] = /^\/?(\w+)/.exec(detail) ?? [];
  if (!fields.includes(name)) return { field: mainField, detail };
  const text = detailTexts.find(([pattern]) => pattern.test(detail))?.[1];
  return { field: name, detail: text ?? detail.replace(/^\/?[\w.]+ /, '').replace(/; for \w+ it is .*$/, '') };
}

/**
 * Waits for a change of a record with a configuration, and assigns errors of the configuration to form fields.
 * @param mainField field that shows the errors that name no field
 * @throws Problem with the field names of the form
 */
export async function withConfigurationErrors<T>(
  values: Readonly<Record<string, unknown>>,
  change: Promise<T>,
  mainField = 'configuration',
): Promise<T> {
  try {
    return await change;
  } catch (cause) {
    const { status, code, message, fieldErrors, retryAfter } = asProblem(cause);
    const assignedErrors = fieldErrors.flatMap((error) =>
      error.field === 'configuration' ? assignToFields(error.detail, Object.keys(values), mainField) : [error],
    );
    throw new Problem(status, code, message, { fieldErrors: assignedErrors, retryAfter });
  }
}
