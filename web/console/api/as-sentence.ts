/** Adds the period that may be missing at the end of a message of the REST API. */
export const asSentence = (text: string): string => (/(^|[.!?…])$/.test(text) ? text : `${text}.`);
