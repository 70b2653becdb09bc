import { basename, join } from "node:path";
import { unpackZip } from "./read-zip.ts";
import {
  connect,
  convert,
  downloadBy,
  expectStream,
  movingClip,
  named,
  openDownloading,
  playToEnd,
} from "./result-flow.ts";
import { expect, test } from "./workbench.ts";

for (const place of [undefined, "Edge"] as const) {
  const where = place ? "at the edge" : "on this device";
  test(`a stream made ${where} plays to its end with hls.js, and ffmpeg plays its zip`, async ({
    page,
    served,
    folder,
    complaints: _,
  }) => {
    await openDownloading(page, served);
    if (place) await connect(page, served);
    const clip = await named(await movingClip(), folder, "in/stream.mp4");
    const card = await convert(page, clip, "HLS for my site", place);
    const seen = await playToEnd(card);
    expect(seen).toMatchObject({ at: expect.closeTo(2, 0), duration: expect.closeTo(2, 0), error: null });
    // Played by hls.js, not natively.
    expect(await card.locator("video").evaluate((video: HTMLVideoElement) => video.src)).toMatch(/^blob:/);

    const zip = await downloadBy(page, card.getByRole("button", { name: "Download as zip" }), folder);
    expect(basename(zip)).toBe("stream.zip");
    const names = await unpackZip(zip, folder);
    expect(names.every((name) => name.startsWith("stream/"))).toBe(true);
    await expectStream(join(folder, "stream", "master.m3u8"));
  });
}
