/**
 * A name with its direction marks to be seen: unseen they turn the letters round, and `exe.pdf` is not what it says
 * (Unicode UAX 9, UTR 36).
 */
export const visibleName = (name: string) => name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
