import { makeClip } from "../fixtures/make-clip.ts";
import { addFiles, cardOf, expect, test } from "./workbench.ts";

test("a video is converted, and its result plays to its end in the page's player", async ({ workbench }) => {
  const clip = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=320x180:rate=25:duration=2".split(" "),
    ..."-f lavfi -i sine=frequency=440:duration=2 -shortest".split(" "),
    ..."-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac".split(" "),
  ]);
  await addFiles(workbench, clip);
  const card = cardOf(workbench, clip);
  await card.getByRole("button", { name: "Convert" }).click();
  await card.getByRole("button", { name: "play", exact: false }).first().click();
  const ended = await card.locator("video").evaluate(async (video: HTMLVideoElement) => {
    if (!video.ended)
      await new Promise((resolve) => video.addEventListener("ended", resolve, { once: true }));
    return { at: video.currentTime, duration: video.duration, width: video.videoWidth, error: video.error };
  });
  expect(ended).toEqual({
    at: expect.closeTo(2, 1),
    duration: expect.closeTo(2, 1),
    width: 320,
    error: null,
  });
});
