/** Maximum body of a management call, in bytes. */
export const maxBodyBytes = 1 << 20;

/** Maximum JSON body of a request without authentication, in bytes. Parsing a long body delays other requests. */
export const maxPublicBodyBytes = 1 << 14;
