import { parentPort } from "node:worker_threads";
import { Logging } from "mediabunny";
import { MediaError } from "../../src/media/errors.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import { bytesReader } from "./probe-file.ts";

Logging.level = 0;

// Runs only the parsers of this process, without ffprobe.
const noFfprobe = () => Promise.reject(new MediaError("probe_failed", "left to ffprobe"));

parentPort?.on("message", async (bytes: Uint8Array) => {
  const origin = { url: "https://example.com/hostile" };
  const answer = await probeMedia(bytesReader(bytes), origin, noFfprobe, AbortSignal.timeout(120_000)).then(
    () => "probed",
    (thrown) => (thrown instanceof MediaError ? thrown.kind : `a fault: ${thrown}`),
  );
  parentPort?.postMessage(answer);
});
