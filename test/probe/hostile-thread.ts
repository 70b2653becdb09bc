import { parentPort } from "node:worker_threads";
import { Logging } from "mediabunny";
import { MediaError } from "../../src/core/errors.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import { bytesReader } from "./probe-file.ts";

Logging.level = 0;

// Without ffprobe: what the parsers of our own process make of a file.
const noFfprobe = () => Promise.reject(new MediaError("probe_failed", "left to ffprobe"));

parentPort?.on("message", async (bytes: Uint8Array) => {
  const given = { url: "https://example.com/hostile" };
  const answer = await probeMedia(bytesReader(bytes), given, noFfprobe, AbortSignal.timeout(120_000)).then(
    () => "probed",
    (thrown) => (thrown instanceof MediaError ? thrown.kind : `a fault: ${thrown}`),
  );
  parentPort?.postMessage(answer);
});
