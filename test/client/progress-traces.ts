import type { Report } from "../../src/client/progress.ts";

/** Encodes recorded in Chromium on two busy cores: percent of the encode step by seconds since its start, and when the task ended. */
export const TRACES: Readonly<Record<string, { reports: readonly Report[]; end: number }>> = {
  "video in one chunk on the core": {
    reports: trace(
      "0.0:0 5.6:1 6.8:2 7.9:4 8.9:6 10.0:9 11.2:10 12.2:13 13.3:15 14.3:17 15.3:18 16.5:20 17.5:22 18.5:26 19.6:29 20.6:31 21.8:33 22.9:36 24.0:38 25.1:40 26.1:42 27.2:45 28.4:47 29.4:49 30.5:50 31.6:53 32.6:54 33.7:56 34.9:60 36.0:62 37.1:64 38.2:67 39.2:69 40.4:73 41.5:76 42.6:78 43.7:83 44.7:88 45.8:92 46.8:95",
    ),
    end: 47.0,
  },
  "video in several chunks on the core": {
    reports: trace(
      "0.0:0 3.6:1 4.7:2 5.7:5 6.7:7 7.8:9 8.8:10 9.9:12 11.0:13 12.0:16 13.0:18 14.1:21 15.3:23 16.4:26 17.4:29 18.5:31 19.5:34 20.6:35 21.7:37 22.7:39 23.7:41 24.7:44 25.8:47 26.9:49 28.2:51 29.3:53 30.4:55 31.4:57 32.5:59 33.5:62 34.6:64 35.7:67 36.7:68 37.7:71 38.7:75 39.8:79 40.9:82 41.9:84 42.9:87 43.9:90 44.9:93 45.2:95",
    ),
    end: 45.5,
  },
  "video by WebCodecs": {
    reports: trace("0.0:0 1.2:5 2.2:15 3.2:26 4.2:38 5.3:49 6.3:58 7.4:71 8.3:81 9.3:90 10.1:95"),
    end: 10.4,
  },
  sound: {
    reports: trace(
      "0.0:0 1.9:4 2.9:10 3.9:16 4.9:21 6.0:26 7.1:32 8.1:37 9.2:42 10.2:46 11.2:51 12.2:55 13.2:59 14.3:63 15.3:67 16.3:72 17.3:76 18.3:80 19.3:85 20.3:90",
    ),
    end: 21.4,
  },
  "adaptive video": {
    reports: trace(
      "0.0:0 2.0:1 3.0:5 4.0:10 5.1:16 6.1:21 7.2:28 8.2:35 9.3:42 10.3:49 11.4:54 12.4:61 13.4:67 14.6:72 15.7:76 16.8:79 17.9:83 18.9:86 20.0:89 21.2:92 21.6:95",
    ),
    end: 21.8,
  },
  "an animation": {
    reports: trace("0.0:0 1.4:12 2.5:23 3.6:32 4.6:41 5.8:53 6.9:63 8.0:73 9.0:83 10.1:93"),
    end: 10.4,
  },
};

function trace(text: string): Report[] {
  return text.split(" ").map((pair) => {
    const [at = 0, percent = 0] = pair.split(":").map(Number);
    return { at, percent };
  });
}
