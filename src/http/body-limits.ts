/** Maximum body of a management call, in bytes, unless its operation has another limit (`maxBodyBytes` in operation.ts). */
export const maxBodyBytes = 1 << 20;

/** Maximum body of a visitor's request or a sign-in, except files and SAML forms, in bytes. Parsing a long body delays other requests. */
export const maxPublicBodyBytes = 1 << 14;
