import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { engineFeatures } from "../../src/media/features.ts";
import { createApp } from "./app.ts";
import { startInputProxy } from "./input-proxy.ts";
import { findInstalled } from "./installed.ts";
import { createJobs } from "./jobs.ts";
import { createMemory } from "./memory.ts";
import { startPictureDesk } from "./pictures/picture-desk.ts";
import { createPictures } from "./pictures/pictures.ts";
import { type JobHooks, runJob } from "./run-job.ts";
import { createScratch } from "./scratch.ts";
import type { Settings } from "./settings.ts";
import { createBatches } from "./together/batches.ts";

/** A native encoder at work. */
export interface NativeServer {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  url: string;
  /** Takes no new jobs, lets the running ones finish within their grace, hands back the rest, and ends. */
  finish(): Promise<void>;
  /** Ends at once: no ffmpeg and no file is left. */
  end(): Promise<void>;
}

// Clients close an idle connection within a few seconds. Were the server the first to do so, a request that is being sent would be lost,
// and one whose body is a stream cannot be repeated.
const KEEP_ALIVE_MS = 75_000;

/** Starts the native encoder; rejects with a MediaError when ffmpeg is not there or lacks an encoder, and as the system says when it cannot listen. */
export async function startServer(settings: Settings): Promise<NativeServer> {
  const { ffmpeg_user } = settings;
  const installed = await findInstalled(settings, ffmpeg_user);
  // What either of them writes, both may read and remove, but no other user.
  if (ffmpeg_user !== null) process.umask(0o007);
  const shared = ffmpeg_user !== null;
  const [scratch, proxy, desk] = await Promise.all([
    createScratch(settings.tmpdir, shared),
    startInputProxy(),
    startPictureDesk(),
  ]);
  const bench = { scratch, proxy, installed, settings };
  const { places, lease_seconds, token, origins } = settings;
  const memory = createMemory(settings.max_memory_bytes);
  const run = (job: NativeJob, hooks: JobHooks) => runJob(job, bench, hooks);
  const jobs = createJobs({ places, lease_seconds, memory, batches: createBatches(scratch, places), run });
  // The extra place is for images and sound.
  const pictures = createPictures(jobs, desk, memory);
  const app = createApp({
    jobs,
    pictures,
    token,
    origins,
    ffmpeg: installed.version,
    features: engineFeatures("native", installed.lacks),
    slots: places + 1,
  });
  const server = createAdaptorServer({ fetch: app.fetch });
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = KEEP_ALIVE_MS;
  const end = async () => {
    await jobs.end();
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
    await proxy.close();
    desk.close();
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
