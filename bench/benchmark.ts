/** One measurement of one side: the compared value, and facts for the notes. */
export type Measurement = Readonly<{ value: number } & Record<string, number>>;

/** The two sides of a benchmark, ready to run any number of times. */
export interface Contest {
  ours(): Promise<Measurement>;
  /** Measures the product to compare with; null if there is none. */
  peer: (() => Promise<Measurement>) | null;
  /** Returns facts that the figures do not show; receives the samples without the warm-up. */
  notes(ours: readonly Measurement[], peer: readonly Measurement[]): string;
}

export interface Benchmark {
  name: string;
  unit: string;
  /** Starts the resources of both sides. Resources registered with `ends` are disposed of after the last round, latest first. */
  open(ends: AsyncDisposableStack): Promise<Contest>;
}

/** The outcome of a benchmark: medians over its runs; without a peer, `peer` and `ratio` are null. */
export interface Result {
  name: string;
  ours: number;
  peer: number | null;
  /** Median of ours / peer, each pair measured in the same round. */
  ratio: number | null;
  unit: string;
  /** Measured rounds, without the warm-up. */
  runs: number;
  notes: string;
}
