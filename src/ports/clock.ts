/** The current time. It is a port so that tests can set it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}
