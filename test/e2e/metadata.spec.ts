import { crowdedVideo, readCovers, readFileTags, taggedSound, taggedVideo, WORK } from "../judge/tags.ts";
import { downloadBy, named } from "./result-flow.ts";
import { addFiles, cardOf, expect, openEditor, test } from "./workbench.ts";

test("a card lists what a file will lose, and keeps tags and cover or removes them on request", async ({
  workbench,
  folder,
}) => {
  await test.step("a card lists what a film will lose before it is converted", async () => {
    const file = await named(await crowdedVideo("mp4"), folder, "crowded.mp4");
    await addFiles(workbench, file);
    const card = cardOf(workbench, file);
    await expect(card).toContainText(
      "Leaves out: 1 further sound track (French), surround sound (it becomes stereo).",
    );
    await expect(card).toHaveAttribute("data-state", "ready");
  });
  await test.step("keeps tags and cover of a sound file, or removes them on request", async () => {
    const original = await taggedSound("flac");
    for (const [name, choice, tags] of [
      ["kept.flac", "Keep, except private data", WORK],
      ["removed.flac", "Remove", {}],
    ] as const) {
      const file = await named(original, folder, name);
      await addFiles(workbench, file);
      const card = cardOf(workbench, file);
      await openEditor(card);
      await expect(card.getByLabel("Tags and cover")).toHaveValue("clean");
      await card.getByLabel("Tags and cover").selectOption({ label: choice });
      await card.getByRole("button", { name: "Convert", exact: true }).click();
      await expect(card).toHaveAttribute("data-state", "succeeded", { timeout: 90_000 });
      const output = await downloadBy(workbench, card.getByRole("link", { name: "Download" }), folder);
      expect(await readFileTags(output)).toEqual(tags);
      expect(await readCovers(output)).toEqual(choice === "Remove" ? [] : await readCovers(original));
    }
  });
  await test.step("keeps a film's tags and cover, whether copied or encoded", async () => {
    const original = await taggedVideo("mp4");
    for (const [name, width] of [
      ["copied.mp4", null],
      ["encoded.mp4", "160"],
    ] as const) {
      const file = await named(original, folder, name);
      await addFiles(workbench, file);
      const card = cardOf(workbench, file);
      await expect(card).toContainText("Leaves out: private tags such as location and device.");
      await openEditor(card);
      if (width !== null) await card.getByLabel("Width").fill(width);
      await card.getByRole("button", { name: "Convert", exact: true }).click();
      await expect(card).toHaveAttribute("data-state", "succeeded", { timeout: 90_000 });
      const output = await downloadBy(workbench, card.getByRole("link", { name: "Download" }), folder);
      expect(await readFileTags(output)).toEqual(WORK);
      expect(await readCovers(output)).toEqual(await readCovers(original));
    }
  });
});
