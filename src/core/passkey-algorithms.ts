/** Signature algorithms of passkeys, the best first (COSE): Ed25519, ES256, RS256. Every device knows one of them. */
export const passkeyAlgorithms: readonly number[] = [-8, -7, -257];
