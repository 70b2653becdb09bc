/** The files and the version of a build, for its service worker. Paths begin with a slash. */
interface Build {
  /** A hash of all its files. */
  version: string;
  /** The paths of the start page and of each job, which are among the files. */
  pages: readonly string[];
  /** The files of the page: kept at once, all or none. */
  files: readonly string[];
  /** Large files that not every visit needs: kept once requested, or when idle. */
  later: readonly string[];
  /** The gzipped files of ffmpeg's core: kept uncompressed in the cache that the encoders read themselves. */
  core: readonly string[];
  /** Other files that may be in that cache. */
  core_others: readonly string[];
}

declare const BUILD: Build;
