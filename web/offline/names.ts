/** The cache of a version has this name, and its version behind. */
export const CACHE_PREFIX = "framewright-page ";
/** The lock that each page of a version holds, shared with the others, has this name, and the version behind. */
export const LOCK_PREFIX = "framewright-page ";
/** The cache in which the encoders look for their core. */
export const CORE_CACHE = "framewright-core";

/** What a page tells the service worker: to take over from the one before, to remove what no page needs any more, to keep the large files too, and to stop that. */
export type Order = "take over" | "tidy" | "keep all" | "stop";

/** What a service worker tells the pages when it has taken over. */
export interface TookOver {
  version: string;
}
