/** Prefix of a version's cache, followed by the version. */
export const CACHE_PREFIX = "framewright-page ";
/** Prefix of the lock that all pages of a version share, followed by the version. */
export const LOCK_PREFIX = "framewright-page ";
/** The cache in which the encoders look for their core. */
export const CORE_CACHE = "framewright-core";

/**
 * What a page asks of the service worker: to take over from the previous one, to delete what no page needs any longer, to
 * keep the large files too, or to stop doing so.
 */
export type Order = "take over" | "tidy" | "keep all" | "stop";

/** Sent to the pages by a service worker that has taken over. */
export interface TookOver {
  version: string;
}
