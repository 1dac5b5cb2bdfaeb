import type { Problem } from '#console/api/call.ts';

const sentence = (detail: string) => `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;

/** What a refusal says, at the fields of a form, and of whatever has no field there. */
export interface AssignedErrors {
  readonly byField: Record<string, string>;
  /** Said beside the button: nobody would see it otherwise. */
  readonly others: readonly string[];
}

/**
 * Puts each fault where its field is.
 * @param fields names of the form's fields
 * @param names the form's field by the interface's, where it is called otherwise
 */
export function assignFieldErrors(
  { fieldErrors: faults }: Problem,
  fields: readonly string[],
  names: Readonly<Record<string, string>> = {},
): AssignedErrors {
  const at: Record<string, string> = {};
  const elsewhere: string[] = [];
  for (const { field, detail } of faults) {
    const name = names[field] ?? field;
    if (fields.includes(name)) at[name] = sentence(detail);
    else elsewhere.push(`${field}: ${detail}.`);
  }
  return { byField: at, others: elsewhere };
}
