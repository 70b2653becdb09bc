import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { keepClip, runFfmpeg } from "../fixtures/make-clip.ts";
import { bareTs } from "./bare-ts.ts";
import { fieldPictures, toIvf } from "./field-pictures.ts";
import { type Container, numberedClip, numberedInput, withTone } from "./numbered.ts";

/** A numbered clip with sound that cannot be decoded cleanly from every marked keyframe. */
export interface IntegritySource {
  /** Frames that native ffmpeg decodes, numbered from 0. */
  frames: number;
  containers: readonly Container[];
  /** Whether its sound outlasts its pictures, of which a stream holds the last. */
  held?: boolean;
  /** Makes the clip in one of its containers and resolves with the path. */
  make(container: Container): Promise<string>;
}

const FRAMES = 350;
const ISO = ["mp4", "mov", "mkv", "ts"] as const;
const X264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p";
const X265 = "-c:v libx265 -preset ultrafast -pix_fmt yuv420p -x265-params log-level=none:pools=1:scenecut=0";

function encoded(
  codec: string,
  containers: readonly Container[],
  more: { frames?: number; sound?: string; heard?: number; two_passes?: boolean } = {},
): IntegritySource {
  const { frames = FRAMES, ...rest } = more;
  return {
    ...{ frames, containers, held: (rest.heard ?? frames) > frames },
    make: (container) => {
      const tag = codec.includes("libx265") && /^m[po]/.test(container) ? " -tag:v hvc1" : "";
      return numberedClip({ container, frames, codec: codec + tag, ...rest });
    },
  };
}

export const INTEGRITY_SOURCES = {
  /** Non-IDR I-frames, each followed by pictures that are shown earlier and refer across it. */
  h264_open_gop: encoded(`${X264} -x264-params keyint=50:open-gop=1:bframes=3`, [...ISO, "avi"]),
  /** Intra blocks that move through P-frames: pictures are complete only after a full refresh cycle. */
  h264_intra_refresh: encoded(`${X264} -x264-params keyint=50:intra-refresh=1`, ISO),
  h264_one_idr: encoded(`${X264} -x264-params keyint=infinite:bframes=3`, [...ISO, "avi"]),
  h264_long_sound: encoded(`${X264} -g 50`, ISO, { frames: 200, heard: FRAMES }),
  /** Interlaced macroblocks in frames. */
  h264_mbaff: encoded(`${X264} -flags +ilme+ildct -x264-params keyint=50:open-gop=1:bframes=3:tff=1`, ISO),
  /** Interlaced pictures of one field each. */
  h264_paff: {
    ...{ frames: FRAMES, containers: ISO },
    make: async (container) => withTone(await pafFile(), container, FRAMES),
  },
  /** Clean random access with leading pictures that refer to earlier ones (RASL). */
  hevc_rasl: encoded(`${X265}:keyint=50:min-keyint=50:open-gop=1:bframes=3:b-adapt=0`, ISO),
  /** IDR with decodable leading pictures (RADL). */
  hevc_radl: encoded(`${X265}:keyint=50:min-keyint=50:open-gop=0:bframes=3:b-adapt=0:radl=2`, ISO),
  /** B-frames shown before the first I-frame of an open group. */
  mpeg2_open_gop: encoded("-c:v mpeg2video -bf 2 -g 15", ISO, { sound: "mp2" }),
  /** Hidden references in superframes, and packets that only say which one to show. */
  vp9_hidden: encoded(
    "-c:v libvpx-vp9 -deadline good -cpu-used 5 -b:v 400k -g 75 -auto-alt-ref 6 -lag-in-frames 25",
    ["webm", "mkv", "mp4"],
    { frames: 250, two_passes: true },
  ),
  /** Hidden references in separate packets. */
  vp8_hidden: encoded(
    "-c:v libvpx -deadline good -cpu-used 5 -b:v 400k -g 75 -auto-alt-ref 1 -lag-in-frames 16",
    ["webm", "mkv"],
    { frames: 250, two_passes: true },
  ),
  /** Keyframes that are decoded early, hidden, and shown later by index; no container marks them. */
  av1_forward: {
    ...{ frames: 250, containers: ["mp4", "mkv", "webm"] },
    make: async (container) => withTone(await forwardFile(250), container, 250),
  },
  /** A packet with a P-frame and the B-frame before it, then an empty one. Xvid never outputs the last two frames. */
  mpeg4_packed: {
    ...{ frames: FRAMES - 2, containers: ["avi", "mkv"] },
    make: async (container) => {
      const codec = "-c:v libxvid -bf 2 -g 50 -q:v 4";
      const packed = await numberedClip({ container: "avi", frames: FRAMES, codec });
      return container === "avi" ? packed : withTone(packed, container, FRAMES);
    },
  },
  /** A stream that marks no random access point: neither in its packets nor by recovery points. */
  h264_bare: {
    ...{ frames: 600, containers: ["ts"] },
    make: async () => {
      const codec = `${X264} -x264-params keyint=50:open-gop=1:bframes=3 -bsf:v filter_units=remove_types=6`;
      return bareTs(await numberedClip({ container: "ts", frames: 600, codec }));
    },
  },
} as const satisfies Record<string, IntegritySource>;

export type IntegritySourceName = keyof typeof INTEGRITY_SOURCES;

// Neither AV1 encoder in Debian's ffmpeg offers forward keyframes. Most coding tools are off to save time.
const FORWARD =
  "-q --passes=1 --cpu-used=6 --end-usage=q --cq-level=50 --kf-max-dist=9999 --lag-in-frames=35 --min-gf-interval=16 " +
  "--max-gf-interval=16 --enable-fwd-kf=1 --fwd-kf-dist=48 --enable-tpl-model=0 --enable-keyframe-filtering=0 --arnr-maxframes=0 " +
  "--enable-global-motion=0 --enable-warped-motion=0 --enable-obmc=0 --enable-cdef=0 --enable-restoration=0 " +
  "--max-reference-frames=3 --min-partition-size=16 --enable-smooth-intra=0 --enable-filter-intra=0 --ivf";

function forwardFile(frames: number): Promise<string> {
  return keepClip("ivf", `forward keyframes ${frames} ${FORWARD}`, async (path) => {
    const raw = `${path}.y4m`;
    await runFfmpeg([...numberedInput(frames), raw]);
    await promisify(execFile)("aomenc", [...FORWARD.split(" "), "-o", path, raw], { timeout: 120_000 });
    await rm(raw);
  });
}

function pafFile(): Promise<string> {
  return keepClip("ivf", `field pictures ${FRAMES}`, (path) =>
    writeFile(path, toIvf(fieldPictures(FRAMES, 25))),
  );
}
