import { chooseFormat, longClip } from "./queue-clips.ts";
import { addFiles, cardOf, expect, test } from "./workbench.ts";

declare global {
  interface Window {
    /** Titles of the notifications shown. */
    notified: string[];
    /** Overrides `document.hidden`. */
    isHidden: boolean;
  }
}

// Headless Chromium has no permission prompt and no desktop.
function stubNotifications(): void {
  window.notified = [];
  window.isHidden = false;
  Object.defineProperty(document, "hidden", { get: () => window.isHidden });
  class NotificationStub extends EventTarget {
    static permission: NotificationPermission = "default";
    static async requestPermission(): Promise<NotificationPermission> {
      NotificationStub.permission = "granted";
      return NotificationStub.permission;
    }
    constructor(title: string) {
      super();
      window.notified.push(title);
    }
  }
  Object.defineProperty(window, "Notification", { value: NotificationStub });
}

test("notifies a visitor who asked for it when a long conversion ends in a hidden tab", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  await page.addInitScript(stubNotifications);
  // By the page's shifted clock, every conversion has already taken long.
  await page.clock.setSystemTime(Date.now() + 60_000);
  await page.goto(served.url);
  await addFiles(page, await longClip("long.mp4", 12, folder));
  const card = cardOf(page, "long.mp4");
  await chooseFormat(card, "webm");
  await expect(page.getByRole("button", { name: "Notify me" })).toBeHidden();
  await page.evaluate(() => {
    window.isHidden = true;
  });
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(page.getByRole("button", { name: "Notify me" })).toBeVisible();
  // The offer covers nothing, even on a phone.
  await page.setViewportSize({ width: 390, height: 600 });
  await card.getByRole("button", { name: "Cancel" }).click({ trial: true });
  await page.getByRole("button", { name: "Notify me" }).click();
  await expect(page.getByRole("button", { name: "Notify me" })).toBeHidden();
  await expect(card).toHaveAttribute("data-state", "succeeded");
  expect(await page.evaluate(() => window.notified)).toEqual(["long.mp4 is done"]);
});
