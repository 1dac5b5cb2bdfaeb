import { en } from './en.ts';
import type { VisitorMessages } from './visitor-messages.ts';

type FailureKey = { [Key in keyof VisitorMessages]: `${Key}Next` extends keyof VisitorMessages ? Key : never }[keyof VisitorMessages];

const failureKeys = Object.keys(en).filter((key): key is FailureKey => `${key}Next` in en);

/**
 * Returns the keys of two texts for a failure: what happened, and what to do next.
 * @param code an error code (docs/integrator/messages.md); an unknown code gives a general text
 */
export function failureMessageKeys(code: string): { readonly title: FailureKey; readonly next: `${FailureKey}Next` } {
  const generalKey = code.endsWith('Busy') ? 'serverBusy' : 'wentWrong';
  const title = failureKeys.find((key) => key === code) ?? generalKey;
  return { title, next: `${title}Next` };
}
