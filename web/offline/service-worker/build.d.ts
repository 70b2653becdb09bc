/** What the build tells the service worker of the version that it belongs to. Paths begin with a slash. */
interface Build {
  /** A hash of all its files. */
  version: string;
  /** What the page is made of: kept at once, as a whole. */
  files: readonly string[];
  /** Large files that not every visit needs: kept when they were asked for, or in an idle moment. */
  later: readonly string[];
  /** The files of ffmpeg's core, packed with gzip: kept unpacked in the cache that the encoders read themselves. */
  core: readonly string[];
  /** The rest of what that cache may have. */
  core_others: readonly string[];
}

declare const BUILD: Build;
