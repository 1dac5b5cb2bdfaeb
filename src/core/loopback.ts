/**
 * Returns whether a host is this machine: a connection to it needs no encryption.
 * @param host name or address, IPv6 with or without brackets
 */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
