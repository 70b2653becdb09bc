import type { Source } from "../../src/media/source.ts";
import { hugeMp3, hugeMp4, hugeWebm } from "../../test/fixtures/huge.ts";
import { makeClip } from "../../test/fixtures/make-clip.ts";
import type { VirtualFile } from "../../test/fixtures/virtual-file.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { openLab } from "../lab.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { startRemote } from "./remote.ts";

const BYTES = 1_000_000_000;

// 1280x720 with grain, at bitrates typical of such pictures, so that either demuxer has to read real frames.
const PICTURES = "-f lavfi -i testsrc2=size=1280x720:rate=25:duration=10,noise=alls=8:allf=t";
const SOUND = "-f lavfi -i sine=duration=10";
const H264 = "-c:v libx264 -preset ultrafast -b:v 4M -pix_fmt yuv420p -g 125 -c:a aac -b:a 128k";
const VP9 = "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 3M -g 125 -c:a libopus -b:a 96k";
const make = (extension: string, codecs: string) =>
  makeClip(extension, `${PICTURES} ${SOUND} ${codecs}`.split(" "));

const FILES = {
  "probe-mp4-vs-ffprobe": {
    name: "a.mp4",
    open: async () => hugeMp4(BYTES, await make("mp4", H264)),
    description: "1280x720 H.264 at 4 Mbit/s, moov at the end",
  },
  "probe-webm-vs-ffprobe": {
    name: "a.webm",
    open: async () => hugeWebm(BYTES, await make("webm", VP9)),
    description: "1280x720 VP9 at 3 Mbit/s, Cues at the end",
  },
  "probe-mp3-vs-ffprobe": {
    name: "a.mp3",
    open: () => hugeMp3(BYTES),
    description: "128 kbit/s, no Xing header",
  },
} as const;

/** A probe step on a remote file of 1 GB against native `ffprobe URL`: the bytes that each makes the server send. */
export const probeBenchmarks: readonly Benchmark[] = Object.entries(FILES).map(([name, file]) => ({
  name,
  unit: "bytes",
  open: async (ends) => openProbe(file.name, await file.open(), file.description, ends),
}));

async function openProbe(
  name: string,
  file: VirtualFile,
  description: string,
  ends: AsyncDisposableStack,
): Promise<Contest> {
  const remote = await startRemote(file, name, ends);
  const lab = await openLab(ends);
  const sample = async (seconds: number, duration: number, own = 0): Promise<Measurement> => {
    const { bytes, requests } = await remote.take();
    return { value: bytes, requests, milliseconds: seconds * 1000, duration, own };
  };
  return {
    async peer() {
      const args = ["-v", "verbose", "-of", "json", "-show_format", "-show_streams", remote.url];
      const { stdout, stderr, seconds } = await runCommand("ffprobe", args);
      const { format } = JSON.parse(stdout) as { format: { duration: string } };
      // The bytes that it read from the socket, by its own count.
      const own = /Statistics: (\d+) bytes read/.exec(stderr)?.[1];
      return sample(seconds, Number(format.duration), Number(own));
    },
    async ours() {
      const started = performance.now();
      const step = await lab.runStep({ kind: "probe", input: { url: remote.url } });
      return sample((performance.now() - started) / 1000, (step.output as Source).duration ?? Number.NaN);
    },
    notes(ours, peer) {
      const side = (samples: readonly Measurement[]) =>
        `${short(medianOf(samples, "requests"))} requests, ${short(medianOf(samples, "milliseconds"))} ms`;
      const duration = sameDuration(ours, peer);
      return [
        `ours ${side(ours)} from POST /steps to its end; ffprobe ${side(peer)},`,
        `${short(medianOf(peer, "own"))} bytes by its own count; ${description}; both report ${duration} s;`,
        "the server sends 16 KB a millisecond at most and counts what it sends",
      ].join(" ");
    },
  };
}

// Reading less only counts when the result is the same. ffprobe prints microseconds.
function sameDuration(ours: readonly Measurement[], peer: readonly Measurement[]): number {
  const [own, theirs] = [medianOf(ours, "duration"), medianOf(peer, "duration")];
  if (!(Math.abs(own - theirs) <= Math.max(0.001, theirs * 1e-6))) {
    throw new Error(`We say that the file lasts ${own} s, and ffprobe ${theirs} s.`);
  }
  return theirs;
}
