/** The name of the one object that the queue of runs is kept in. */
export const QUEUE_NAME = "runs";
