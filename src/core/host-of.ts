/** Returns a host without the brackets of an IPv6 address (RFC 3986, 3.2.2). @param hostname of a `URL` */
export const hostOf = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
