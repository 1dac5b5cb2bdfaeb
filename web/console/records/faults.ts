import type { Problem } from '#console/api/call.ts';

const sentence = (detail: string) => `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;

/** What a refusal says of fields, at each field, as a form shows it. */
export const faultsFor = ({ faults }: Problem): Record<string, string> =>
  Object.fromEntries(faults.map(({ field, detail }) => [field, sentence(detail)]));
