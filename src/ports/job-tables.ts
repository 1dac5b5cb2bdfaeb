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
   * Number of claims since it last succeeded, without those that their process released. It begins again at 0 if a job that was given up
   * is enqueued again, or if the last attempt fails after the job was enqueued again. Together with `holder` it identifies one claim.
   */
  attempts: number;
  /** Incremented each time the job is enqueued, so that what is enqueued while the job runs is not lost. */
  generation: number;
  /** The process that runs it; null: none does. */
  holder: string | null;
  /** The claim ends at this time unless it is extended. */
  lease_until: number | null;
  /** The last failure, in words; empty: none. */
  error: string;
  /** When it was given up; null: it was not. */
  failed_at: number | null;
  created_at: number;
}
