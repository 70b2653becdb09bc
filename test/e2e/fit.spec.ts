import { makeClip } from "../fixtures/make-clip.ts";
import { named, openOptions } from "./result-flow.ts";
import { expect, test } from "./workbench.ts";

test("an emptied side takes its fit along, and only Contain has a background", async ({
  workbench,
  folder,
}) => {
  const picture = await makeClip("png", "-f lavfi -i testsrc2=size=400x300 -frames:v 1".split(" "));
  const card = await openOptions(workbench, await named(picture, folder, "fit.png"));
  await workbench.setViewportSize({ width: 390, height: 844 });
  const [width, height] = [card.getByLabel("Width"), card.getByLabel("Height")];
  const background = card.getByLabel("Background", { exact: true });
  const radio = (name: string) => card.getByRole("radio", { name, exact: true });
  const expectMade = async (size: string) => {
    await expect(card.locator(".outcome")).toContainText(size);
    await expect(card.getByRole("button", { name: "Convert", exact: true })).toBeEnabled();
    expect(await workbench.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  };

  for (const [emptied, size] of [
    [height, "PNG · 120 × 90"],
    [width, "PNG · 160 × 120"],
  ] as const) {
    await width.fill("120");
    await height.fill("120");
    await expect(radio("Contain")).toBeChecked();
    await background.fill("#123456");
    await expectMade("PNG · 120 × 120");
    await emptied.fill("");
    await expect(card.getByRole("group", { name: "Fit" })).toHaveCount(0);
    await expectMade(size);
  }

  await width.fill("120");
  for (const [name, count] of [
    ["Cover", 1],
    ["Fill", 0],
  ] as const) {
    await radio("Contain").check();
    await expect(background).toHaveValue("");
    await background.fill("#123456");
    await radio(name).check();
    await expect(background).toHaveCount(0);
    await expect(card.getByRole("group", { name: "Position" })).toHaveCount(count);
    await expectMade("PNG · 120 × 120");
  }
});
