/** A change of a task or step, with what is known of its pace. */
export interface Update<T> {
  /** The record after the change. */
  record: T;
  /** Percent of the whole run, 0 to 100, that never goes down; null until it can be measured. */
  progress: number | null;
  /** Seconds of media done in a second; null until known. */
  speed: number | null;
  /** Seconds until the end; null until known. */
  eta: number | null;
}
