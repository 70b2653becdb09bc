import { makeClip } from "../fixtures/make-clip.ts";
import { addFiles, cardOf, expect, test } from "./workbench.ts";

test("a video is converted and played to its end", async ({ workbench }) => {
  const clip = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=320x180:rate=25:duration=2".split(" "),
    ..."-c:v libx264 -preset ultrafast -pix_fmt yuv420p".split(" "),
  ]);
  await addFiles(workbench, clip);
  const card = cardOf(workbench, clip);
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(card).toContainText("Done");
});
