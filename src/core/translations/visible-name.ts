/**
 * Replaces direction marks in a name by a visible character. The marks themselves are invisible, but they can change the order
 * of letters, so that an `.exe` file can look like a `.pdf` file (Unicode UAX 9, UTR 36).
 */
export const visibleName = (name: string) => name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
