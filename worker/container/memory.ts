/** The memory of a machine, which its jobs share. */
export interface Memory {
  /** Reserves the estimated bytes of a job; null when they do not fit beside the others. A single job always fits. */
  reserve(bytes: number): Reservation | null;
}

/** The memory of one job. */
export interface Reservation {
  /** Records the bytes that the job uses, and returns whether all jobs still fit, each counted with the larger of its estimate and its use. */
  fits(bytes: number): boolean;
  release(): void;
}

/** Creates the memory of a machine, of `total` bytes. */
export function createMemory(total: number): Memory {
  const reservations = new Set<{ estimate: number; used: number }>();
  const sum = () => [...reservations].reduce((all, { estimate, used }) => all + Math.max(estimate, used), 0);
  return {
    reserve(bytes) {
      if (reservations.size > 0 && sum() + bytes > total) return null;
      // An estimate above the total may be wrong.
      const reservation = { estimate: Math.min(bytes, total), used: 0 };
      reservations.add(reservation);
      return {
        fits(used) {
          reservation.used = used;
          return used <= reservation.estimate || sum() <= total;
        },
        release: () => reservations.delete(reservation),
      };
    },
  };
}
