/** What one step of the work takes, in seconds. */
export interface Costs {
  /** For a second of pictures of the source. */
  picture: number;
  /** For each chunk, whatever its length: being asked for, reaching its keyframe, storing. */
  chunk: number;
  /** For a second of sound. */
  sound: number;
  /** For a second of the output to be put together. */
  stitch: number;
  /** Until a container answers for the first time. */
  start: number;
}

/** How a film goes on so many containers. */
export interface Run {
  containers: number;
  chunks: number;
  /** From the first start to the whole file. */
  seconds: number;
  /** Share of the containers' time that is spent on encoding. */
  efficiency: number;
  /** US dollars for the containers. */
  dollars: number;
}

/**
 * Cloudflare's prices in US dollars, by the second (https://developers.cloudflare.com/containers/pricing/): of a processor in use, a GiB of
 * memory and a GB of disk; and what an instance of the type standard-3 has of them.
 */
export const PRICES = { cpu: 0.00002, memory: 0.0000025, disk: 0.00000007 } as const;
/** An instance of the type standard-3. */
export const INSTANCE = { cpu: 2, memory: 8, disk: 16 } as const;

/** Deals chunks (their lengths in seconds of source; the sound is one more) to containers, the next one to whoever is free first, and puts them together. */
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
  // The sound has one long piece, so it goes first.
  const ordered = works.toSorted((a, b) => b - a);
  const free = Array.from({ length: Math.min(containers, works.length) }, () => costs.start);
  for (const work of ordered) {
    const next = free.indexOf(Math.min(...free));
    free[next] = (free[next] ?? 0) + work;
  }
  const encoded = Math.max(...free);
  const busy = works.reduce((sum, work) => sum + work, 0);
  const seconds = encoded + lengths.reduce((sum, length) => sum + length, 0) * costs.stitch;
  const held = free.reduce((sum, end) => sum + end, 0);
  const rented = held * (INSTANCE.memory * PRICES.memory + INSTANCE.disk * PRICES.disk);
  return {
    containers,
    chunks: lengths.length,
    seconds,
    efficiency: busy / (containers * seconds),
    dollars: rented + busy * INSTANCE.cpu * PRICES.cpu,
  };
}
