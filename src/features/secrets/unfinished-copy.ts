/** Replaces the fingerprint of the secret key until a copy is complete, so that Postern does not start with an incomplete copy. */
export const unfinishedCopyMark = 'a copy into this database has not come to its end';
