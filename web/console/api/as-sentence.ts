/** Returns a text as a sentence: messages of the REST API may lack the period at the end. */
export const asSentence = (text: string): string => (/(^|[.!?…])$/.test(text) ? text : `${text}.`);
