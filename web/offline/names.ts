/** Prefix of a version's cache, followed by the version. */
export const CACHE_PREFIX = "framewright-page ";
/** Prefix of the lock that all pages of a version share, followed by the version. */
export const LOCK_PREFIX = "framewright-page ";
/** The cache in which the encoders look for their core. */
export const CORE_CACHE = "framewright-core";

/**
 * A page's order to the service worker: take over from the previous one, delete what no page needs any longer, keep the
 * large files too, or stop doing so.
 */
export type Order = "take over" | "tidy" | "keep all" | "stop";

/** Sent to the pages by a service worker that has taken over. */
export interface TookOver {
  version: string;
}
