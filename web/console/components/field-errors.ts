import { asSentence } from '#console/api/as-sentence.ts';
import type { Problem } from '#console/api/call.ts';

const sentence = (detail: string) => asSentence(`${detail.charAt(0).toUpperCase()}${detail.slice(1)}`);

/** The field errors of a problem, by form field, and those without a form field. */
export interface AssignedErrors {
  readonly byField: Record<string, string>;
  /** Shown beside the button, as they have no field. */
  readonly others: readonly string[];
}

/**
 * Assigns each field error to its form field.
 * @param fields names of the form's fields
 * @param names maps the name of an API field to the name of its form field, where these differ
 */
export function assignFieldErrors(
  { fieldErrors }: Problem,
  fields: readonly string[],
  names: Readonly<Record<string, string>> = {},
): AssignedErrors {
  const byField: Record<string, string> = {};
  const others: string[] = [];
  for (const { field, detail } of fieldErrors) {
    const name = names[field] ?? field;
    if (fields.includes(name)) byField[name] = sentence(detail);
    else others.push(asSentence(`${field}: ${detail}`));
  }
  return { byField, others };
}
