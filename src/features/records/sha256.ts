import { hash } from 'node:crypto';

/** Returns the SHA-256 of a text in base64url, as the database stores it. Secrets of 256 random bits need no slow hash. */
export const sha256 = (text: string): string => hash('sha256', text, 'base64url');
