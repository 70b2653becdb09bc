import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { mediaSeconds } from "../../src/runs/steps/extra-inputs.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { probeFile } from "../probe/probe-file.ts";

test("a file that states a second lasts as long as its last picture, which silence would fill", async () => {
  const path = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=64x64:rate=25:duration=1 -f lavfi -i sine=duration=1".split(" "),
    ..."-c:v libx264 -bf 0 -pix_fmt yuv420p -c:a aac".split(" "),
  ]);
  const plain = (await probeFile(path)).source;
  expect(mediaSeconds(plain)).toBe(plain.duration);
  const bytes = await readFile(path);
  for (let at = bytes.indexOf("edts"); at > 0; at = bytes.indexOf("edts")) bytes.write("free", at);
  // Ticks of each of the pictures.
  expect(bytes.readUInt32BE(bytes.indexOf("stts") + 16)).toBe(512);
  bytes.writeUInt32BE(2e9, bytes.indexOf("stts") + 16);
  const damaged = `${path}.long.mp4`;
  await writeFile(damaged, bytes);
  const { source } = await probeFile(damaged);
  expect([source.duration, mediaSeconds(source)]).toEqual([1, (25 * 2e9) / 12_800]);
});
