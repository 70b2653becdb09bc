import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { engineFeatures } from "../../src/media/features.ts";
import { createApp } from "./app.ts";
import { createBatches } from "./batches.ts";
import { createScratch } from "./files.ts";
import { startInputProxy } from "./input.ts";
import { findInstalled } from "./installed.ts";
import { createJobs, createMemory } from "./jobs.ts";
import { createPictures, startPictureServer } from "./pictures.ts";
import { type JobHooks, runJob } from "./run-job.ts";
import type { Settings } from "./settings.ts";

/** A running native encoder. */
export interface NativeServer {
  /** URL that it listens at, such as `http://127.0.0.1:8080`. */
  url: string;
  /** Rejects new jobs, gives running ones their grace period, hands back the rest, and ends. */
  finish(): Promise<void>;
  /** Ends at once, without leaving processes or files. */
  end(): Promise<void>;
}

// If the server closed an idle connection first, it would lose a request in flight; clients close theirs within seconds.
const KEEP_ALIVE_MS = 75_000;

/** Starts the native encoder. Rejects with a MediaError when ffmpeg or one of its encoders is missing, and with the system's error when it cannot listen. */
export async function startServer(settings: Settings): Promise<NativeServer> {
  const { ffmpeg_user } = settings;
  const installed = await findInstalled(settings, ffmpeg_user);
  if (ffmpeg_user !== null) process.umask(0o007);
  const shared = ffmpeg_user !== null;
  const [scratch, proxy, pictureServer] = await Promise.all([
    createScratch(settings.tmpdir, shared),
    startInputProxy(),
    startPictureServer(),
  ]);
  const context = { scratch, proxy, installed, settings };
  const { slots, lease_seconds, token, origins } = settings;
  const memory = createMemory(settings.max_memory_bytes);
  const run = (job: NativeJob, hooks: JobHooks) => runJob(job, context, hooks);
  const jobs = createJobs({ slots, lease_seconds, memory, batches: createBatches(scratch, slots), run });
  const pictures = createPictures(jobs, pictureServer, memory);
  const app = createApp({
    jobs,
    pictures,
    token,
    origins,
    ffmpeg: installed.version,
    features: engineFeatures("native", installed.lacks),
    // The server also runs one image or sound beside its slots.
    slots: slots + 1,
  });
  const server = createAdaptorServer({ fetch: app.fetch });
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = KEEP_ALIVE_MS;
  const end = async () => {
    await jobs.end();
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
    await proxy.close();
    pictureServer.close();
    await scratch.end();
  };
  try {
    server.listen(settings.port, settings.host);
    await once(server, "listening");
  } catch (thrown) {
    await end();
    throw thrown;
  }
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    async finish() {
      await jobs.finish(settings.grace_seconds * 1000);
      await end();
    },
    end,
  };
}
