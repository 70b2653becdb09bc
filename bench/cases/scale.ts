/** The cost of each part of the work, in seconds. */
export interface Costs {
  /** Seconds per second of pictures in the source. */
  picture: number;
  /** Seconds per chunk, whatever its length: the request, the seek to its keyframe, and storing. */
  chunk: number;
  sound: number;
  /** Stitching, per second of output. */
  stitch: number;
  /** Seconds from the start of a container to its first answer. */
  start: number;
}

/** An encode of a film on a number of containers. */
export interface Run {
  containers: number;
  chunks: number;
  /** Seconds from the first start to the complete file. */
  seconds: number;
  /** Share of the containers' time that is spent encoding. */
  efficiency: number;
  dollars: number;
}

/**
 * Cloudflare's prices in US dollars per second (https://developers.cloudflare.com/containers/pricing/): of a processor in
 * use, a GiB of memory and a GB of disk.
 */
const PRICES = { cpu: 0.00002, memory: 0.0000025, disk: 0.00000007 } as const;
/** The resources of an instance of type standard-3. */
const INSTANCE = { cpu: 2, memory: 8, disk: 16 } as const;

/**
 * Assigns chunks (their lengths in seconds of source; the sound is one more) to containers, each to the first one free, and
 * stitches them.
 */
export function simulate(
  lengths: readonly number[],
  sound_seconds: number,
  containers: number,
  costs: Costs,
): Run {
  const works = [
    ...lengths.map((length) => costs.chunk + length * costs.picture),
    ...(sound_seconds > 0 ? [costs.chunk + sound_seconds * costs.sound] : []),
  ];
  // The sound has one long chunk, so it goes first.
  const ordered = works.toSorted((a, b) => b - a);
  const free = Array.from({ length: Math.min(containers, works.length) }, () => costs.start);
  for (const work of ordered) {
    const next = free.indexOf(Math.min(...free));
    free[next] = (free[next] ?? 0) + work;
  }
  const encoded = Math.max(...free);
  const busy = works.reduce((sum, work) => sum + work, 0);
  const seconds = encoded + lengths.reduce((sum, length) => sum + length, 0) * costs.stitch;
  const occupied = free.reduce((sum, end) => sum + end, 0);
  const rented = occupied * (INSTANCE.memory * PRICES.memory + INSTANCE.disk * PRICES.disk);
  return {
    containers,
    chunks: lengths.length,
    seconds,
    efficiency: busy / (containers * seconds),
    dollars: rented + busy * INSTANCE.cpu * PRICES.cpu,
  };
}
