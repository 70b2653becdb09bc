/** What one run of one side measured: the value that is compared, and facts for the notes. */
export type Sample = Readonly<{ value: number } & Record<string, number>>;

/** The two sides of a benchmark, ready to run as often as is asked. */
export interface Contest {
  ours(): Promise<Sample>;
  /** Null where there is nothing to compare with. */
  peer: (() => Promise<Sample>) | null;
  /** Says what the figures alone do not; takes the samples without the warm-up. */
  notes(ours: readonly Sample[], peer: readonly Sample[]): string;
}

/** One thing that is measured. */
export interface Benchmark {
  name: string;
  /** Unit of the two values. */
  unit: string;
  /** Starts whatever both sides need; what `ends` is told is ended after the last round, the latest first. */
  open(ends: AsyncDisposableStack): Promise<Contest>;
}

/** What came out of a benchmark: medians over its runs; without a peer, `peer` and `ratio` are null. */
export interface Result {
  name: string;
  ours: number;
  peer: number | null;
  /** Median of ours / peer, each pair measured in the same round. */
  ratio: number | null;
  unit: string;
  /** Rounds measured, without the warm-up. */
  runs: number;
  notes: string;
}
