import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { chooseFormat, clipNamed, longClip, MIXED } from "./queue-clips.ts";
import { addFiles, backToList, cardOf, expect, openEditor, test } from "./workbench.ts";

// Must still run when all checks are done, without taking every core from them: sound is encoded on one.
const LONG = "-f lavfi -i sine=frequency=440:sample_rate=8000:duration=7200 -c:a flac".split(" ");

const LOOKS = [
  { name: "light phone", width: 390, height: 844, colorScheme: "light", ground: "rgb(245, 247, 245)" },
  { name: "dark wide", width: 1280, height: 800, colorScheme: "dark", ground: "rgb(16, 19, 18)" },
] as const;

/** Expects that nothing overflows sideways, and that axe finds nothing serious, on either screen. */
async function expectFit(page: Page, state: string): Promise<void> {
  for (const { name, width, height, colorScheme, ground } of LOOKS) {
    const where = `${state}, ${name}`;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    const color = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await expect.poll(color, where).toBe(ground);
    // Colors in the middle of a transition may lack contrast.
    await page.evaluate(async () => {
      const transitions = document.getAnimations().filter((each) => each instanceof CSSTransition);
      await Promise.allSettled(transitions.map(({ finished }) => finished));
    });
    const fit = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      const out = [
        ...document.querySelectorAll("main button, main input:not([type=file]), main select, header a"),
      ]
        .filter((element) => element.checkVisibility())
        .filter((element) => {
          const { left, right, width } = element.getBoundingClientRect();
          return width > 1 && (left < 0 || right > clientWidth + 0.5);
        })
        .map((element) => element.textContent || element.outerHTML.slice(0, 80));
      return { over: scrollWidth - clientWidth, out };
    });
    expect([where, fit]).toEqual([where, { over: 0, out: [] }]);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    expect([where, serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])]).toEqual([where, []]);
  }
}

test("cards in every state fit a phone and a wide screen, and axe finds nothing serious", async ({
  workbench,
  folder,
}) => {
  await expect(workbench.getByRole("heading", { level: 1 })).toBeVisible();
  await expectFit(workbench, "empty");
  const bad = join(folder, `${"a_very_long_name_without_any_gap_".repeat(3)}.mp4`);
  await writeFile(bad, "text");
  const picture = await clipNamed("done.png", MIXED[6][1], folder);
  const [draft, long] = await Promise.all([
    longClip("draft.mp4", 2, folder),
    clipNamed("running.flac", LONG, folder),
  ]);
  await addFiles(workbench, picture, bad, draft, long);
  await expect(workbench.locator("[data-state=ready]")).toHaveCount(3);
  await expect(workbench.locator("[data-state=unusable]")).toHaveCount(1);
  await cardOf(workbench, "done.png").getByRole("button", { name: "Convert", exact: true }).click();
  await expect(cardOf(workbench, "done.png").getByRole("button", { name: "Copy as code" })).toBeVisible();
  const running = cardOf(workbench, "running.flac");
  await chooseFormat(running, "opus");
  await running.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(running.getByRole("progressbar")).toBeVisible();
  await expectFit(workbench, "draft, running, done and unusable");
  await openEditor(cardOf(workbench, "draft.mp4"));
  await expect(cardOf(workbench, "draft.mp4").getByLabel("Format", { exact: true })).toBeVisible();
  await expectFit(workbench, "editor");
  await backToList(workbench);
  await running.getByRole("button", { name: "Cancel" }).click();
  await expect(running).toContainText("Cancelled");
  await expectFit(workbench, "cancelled");
});

test("button transitions follow prefers-reduced-motion", async ({ workbench }) => {
  const button = workbench.getByRole("button", { name: "Add", exact: true });
  const seconds = () =>
    button.evaluate((element) => [...new Set(getComputedStyle(element).transitionDuration.split(", "))]);
  for (const [reducedMotion, duration] of [
    ["no-preference", "0.12s"],
    ["reduce", "0s"],
  ] as const) {
    await workbench.emulateMedia({ reducedMotion });
    await expect.poll(seconds, reducedMotion).toEqual([duration]);
  }
});
