import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { expect, onTestFinished, test } from "vitest";
import { decodeInput } from "../../worker/container/decoder.ts";
import { findInstalled } from "../../worker/container/installed.ts";
import { startOrigin } from "../fixtures/origin.ts";
import { PATCHES, SRGB_PROFILES, writePatches } from "../judge/color-profiles.ts";
import { imageSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";

const INTENT = 64;
const SIGNATURE = 36;

test("decodes an AVIF whose color profile libpng refuses", async () => {
  const [origin, folder] = [await startOrigin(), await mkdtemp(join(tmpdir(), "framewright-heif-"))];
  onTestFinished(async () => {
    await origin.close();
    await rm(folder, { recursive: true });
  });
  const picture = await writePatches("avif", SRGB_PROFILES[0] as Buffer);
  const start = picture.indexOf("acsp") - SIGNATURE;
  picture.writeUInt32BE(0xffffffff, start + INTENT);
  const path = join(folder, "input.avif");
  await writeFile(path, picture);
  const size = { width: 160, height: 120, coded_width: 160, coded_height: 120 };
  const source = imageSource({ format: "avif", mime: "image/avif", ...size });
  const plan = createPlan(source, "image", { format: "png" });
  const url = origin.serve("/input.avif", { file: path });
  const limits = { max_file_bytes: 2 ** 30, max_memory_bytes: 2 ** 30, stall_seconds: 60 };
  const input = { url, size: (await stat(path)).size, etag: "v1" };
  const decoded = await decodeInput({ plan, source, input } as never, {
    folder,
    limits,
    installed: await findInstalled(limits),
    signal: new AbortController().signal,
    fits: () => true,
    onProgress: () => {},
  });
  const pixels = await sharp(decoded?.path)
    .removeAlpha()
    .resize(2, 2, { kernel: "nearest" })
    .raw()
    .toBuffer();
  for (const [at, value] of PATCHES.flat().entries())
    expect(Math.abs((pixels[at] ?? 0) - value)).toBeLessThanOrEqual(6);
});
