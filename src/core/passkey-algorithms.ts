/** Signature algorithms of passkeys (COSE), in order of preference: Ed25519, ES256, RS256. All common authenticators support one. */
export const passkeyAlgorithms: readonly number[] = [-8, -7, -257];
