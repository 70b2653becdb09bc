import { chooseFormat, longClip } from "./queue-clips.ts";
import { addFiles, cardOf, expect, test } from "./workbench.ts";

declare global {
  interface Window {
    /** Titles of the notifications that the page showed. */
    told: string[];
    /** Whether the page shall take itself for hidden. */
    hides: boolean;
  }
}

// No visitor is there to be asked by the browser, and no desktop to show it.
function standIn(): void {
  window.told = [];
  window.hides = false;
  Object.defineProperty(document, "hidden", { get: () => window.hides });
  class Told extends EventTarget {
    static permission: NotificationPermission = "default";
    static async requestPermission(): Promise<NotificationPermission> {
      Told.permission = "granted";
      return Told.permission;
    }
    constructor(title: string) {
      super();
      window.told.push(title);
    }
  }
  Object.defineProperty(window, "Notification", { value: Told });
}

test("who wants to be told is told when something long ends in a hidden tab, and not before", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  await page.addInitScript(standIn);
  // By the page's clock, all that was begun takes long already.
  await page.clock.setSystemTime(Date.now() + 60_000);
  await page.goto(served.url);
  await addFiles(page, await longClip("long.mp4", 12, folder));
  const card = cardOf(page, "long.mp4");
  await chooseFormat(card, "webm");
  await expect(page.getByRole("button", { name: "Notify me" })).toBeHidden();
  await page.evaluate(() => {
    window.hides = true;
  });
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(page.getByRole("button", { name: "Notify me" })).toBeVisible();
  // On a phone too, the offer covers nothing.
  await page.setViewportSize({ width: 390, height: 600 });
  await card.getByRole("button", { name: "Cancel" }).click({ trial: true });
  await page.getByRole("button", { name: "Notify me" }).click();
  await expect(page.getByRole("button", { name: "Notify me" })).toBeHidden();
  await expect(card).toHaveAttribute("data-state", "succeeded");
  expect(await page.evaluate(() => window.told)).toEqual(["long.mp4 is done"]);
});
