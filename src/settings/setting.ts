/** An environment variable. The documentation of settings is generated from these. */
export interface Setting<T> {
  readonly name: string;
  readonly fallback: string;
  readonly meaning: string;
  /** Parses the value of the setting. @throws Error whose message says what is allowed */
  readonly read: (text: string) => T;
}

export const setting = <T>(name: string, fallback: string, meaning: string, read: (text: string) => T): Setting<T> => ({
  name,
  fallback,
  meaning,
  read,
});
