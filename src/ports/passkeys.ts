/** A passkey of an operator, as Postern stores it. */
export interface Passkey {
  /** Id of the credential in base64url. */
  readonly credentialId: string;
  /** COSE public key in base64url. */
  readonly publicKey: string;
  /** Host of the console at which the passkey was created. Browsers offer the passkey only there. */
  readonly host: string;
  /** Signature counter of the device; 0: the device does not count. */
  readonly counter: number;
  /** How the browser reaches the device, such as `usb` or `hybrid`. */
  readonly transports: readonly string[];
}

/** What a browser returns for a new passkey: RegistrationResponseJSON of WebAuthn. All texts but the transports are base64url. */
export interface PasskeyCreation {
  readonly id: string;
  readonly response: { readonly clientDataJSON: string; readonly attestationObject: string; readonly transports?: readonly string[] };
}

/** What a browser returns when a passkey is used: AuthenticationResponseJSON of WebAuthn. All texts are base64url. */
export interface PasskeyUse {
  readonly id: string;
  readonly response: { readonly clientDataJSON: string; readonly authenticatorData: string; readonly signature: string };
}

/** Checks what browsers return for passkeys (WebAuthn Level 3, section 7). */
export interface Passkeys {
  /**
   * Checks a new passkey. Refuses attestations with certificates: Postern does not request any.
   * @returns the passkey, or null if a check fails, for example because it does not belong to the challenge
   */
  verifyCreation(creation: PasskeyCreation, challenge: string): Promise<Passkey | null>;
  /**
   * Checks the signature, the challenge and the host, and that the counter has increased (unless the device does not count).
   * @returns the passkey with its new counter, or null if a check fails
   */
  verifyUse(use: PasskeyUse, challenge: string, passkey: Passkey): Promise<Passkey | null>;
}
