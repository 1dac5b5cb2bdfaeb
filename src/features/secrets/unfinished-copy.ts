/** Stands in the place of the secret key's fingerprint until a copy is whole: on such a database no Postern starts. */
export const unfinishedCopy = 'a copy into this database has not come to its end';
