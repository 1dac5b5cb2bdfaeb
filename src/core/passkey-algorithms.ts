/** Signature algorithms of passkeys (COSE), in order of preference: Ed25519, ES256, RS256. Every authenticator supports one of them. */
export const passkeyAlgorithms: readonly number[] = [-8, -7, -257];
