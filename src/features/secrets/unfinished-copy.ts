/**
 * Is stored in place of the fingerprint of the secret key while `restore` or `move-store` copies records into the database, so that Postern
 * does not start with an incomplete database.
 */
export const unfinishedCopyMark = 'a copy into this database has not come to its end';
