/** The memory of a machine, shared among the jobs that run on it. */
export interface Memory {
  /** Reserves what a job is estimated to take, in bytes; null when it does not fit beside the others. Alone, any job fits. */
  take(bytes: number): Share | null;
}

/** A job's share of the memory. */
export interface Share {
  /** Notes what the job takes; returns whether all jobs still fit, each with what it takes or has reserved. */
  fits(bytes: number): boolean;
  end(): void;
}

/** Creates the memory of a machine with so many bytes for its jobs. */
export function createMemory(total: number): Memory {
  const shares = new Set<{ reserved: number; taken: number }>();
  const sum = () => [...shares].reduce((all, { reserved, taken }) => all + Math.max(reserved, taken), 0);
  return {
    take(bytes) {
      if (shares.size > 0 && sum() + bytes > total) return null;
      // What is estimated above all there is may still fit.
      const share = { reserved: Math.min(bytes, total), taken: 0 };
      shares.add(share);
      return {
        fits(taken) {
          share.taken = taken;
          return taken <= share.reserved || sum() <= total;
        },
        end: () => shares.delete(share),
      };
    },
  };
}
