/** What time it is: a port, so that a test can set it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}
