/** An environment variable. The documentation of settings is generated from these. */
export interface Setting<T> {
  readonly name: string;
  readonly defaultValue: string;
  readonly description: string;
  /** Parses the value of the setting. @throws Error whose message says what is allowed */
  readonly parse: (text: string) => T;
}

export const setting = <T>(name: string, defaultValue: string, description: string, parse: (text: string) => T): Setting<T> => ({
  name,
  defaultValue,
  description,
  parse,
});
