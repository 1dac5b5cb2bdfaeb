/** A job that waits, runs or was given up. Its times are the database's, in ms since the epoch. */
export interface JobTable {
  kind: string;
  /** Distinguishes the jobs of one kind; empty for a recurring job. */
  key: string;
  /** What the job needs to know, as its kind writes it. */
  payload: string;
  /** The job does not start before this time. */
  due_at: number;
  /**
   * Number of claims since the job last succeeded, or was enqueued again during its last attempt or after it was given up. Claims that
   * their process released do not count. Together with `holder`, the number identifies one claim.
   */
  attempts: number;
  /** Incremented each time the job is enqueued, so that what is enqueued while the job runs is not lost. */
  generation: number;
  /** The process that has claimed the job, even if the claim has ended since; null: none. */
  holder: string | null;
  /** The claim ends at this time unless it is extended. */
  lease_until: number | null;
  /** The last failure, in words; empty: none. */
  error: string;
  /** When it was given up; null: it was not. */
  failed_at: number | null;
  created_at: number;
}
