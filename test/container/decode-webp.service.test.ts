import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { decodeWebp } from "../../worker/container/decoder.ts";
import { findInstalled } from "../../worker/container/installed.ts";
import { movingWebp } from "../fixtures/moving-webp.ts";
import { startOrigin } from "../fixtures/origin.ts";

test("reports each decoded frame of an animated WebP as progress", async () => {
  const [origin, path] = [await startOrigin(), await movingWebp()];
  const folder = await mkdtemp(join(tmpdir(), "framewright-webp-"));
  onTestFinished(async () => {
    await origin.close();
    await rm(folder, { recursive: true });
  });
  const url = origin.serve("/moving.webp", { file: path });
  const limits = { max_file_bytes: 2 ** 30, max_memory_bytes: 2 ** 30, stall_seconds: 60 };
  const shares: number[] = [];
  await decodeWebp(
    { url, size: (await stat(path)).size, etag: "v1" },
    {
      folder,
      limits,
      installed: await findInstalled(limits),
      signal: new AbortController().signal,
      fits: () => true,
      onProgress: (share) => shares.push(share),
    },
  );
  expect(shares).toEqual([0.25, 0.5, 0.75, 1]);
});
