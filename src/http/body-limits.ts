/** Maximum body of a management call, in bytes. */
export const largestBody = 1 << 20;

/** Maximum JSON body of a request without authentication, in bytes. Parsing a long body delays other requests. */
export const largestOpenBody = 1 << 14;
