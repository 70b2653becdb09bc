import type { NewApiKey } from "../../src/client/index.ts";
import type { Task } from "../../src/index.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { startOrigin } from "../fixtures/origin.ts";
import { ask, enterService } from "./edge-flow.ts";
import { connectEdge, MIXED } from "./queue-clips.ts";
import { cardOf, expect, openEditor, test } from "./workbench.ts";

test("says why it no longer follows a task at the edge, and follows it again with another key", async ({
  workbench,
  served,
  complaints,
}) => {
  const origin = await startOrigin();
  const file = await makeClip("png", MIXED[6][1]);
  const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" };
  let isRead = false;
  const urls = ["deleted.png", "revoked.png"].map((name) =>
    origin.serve(`/${name}`, () => (isRead ? { silent: true } : { file, mime: "image/png", headers })),
  );
  const { value: key } = await ask<NewApiKey>(served, "POST", "/keys", { name: "To be revoked" });
  await connectEdge(workbench, { url: served.url, key: key.secret ?? "" });
  await workbench.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  }, urls.join(" "));
  const [deleted, revoked] = [cardOf(workbench, "deleted.png"), cardOf(workbench, "revoked.png")];
  await expect(workbench.locator(".thumbnail img")).toHaveCount(2);
  isRead = true;
  const ids: string[] = [];
  for (const card of [deleted, revoked]) {
    await openEditor(card);
    await card.getByRole("radio", { name: "Edge" }).check();
    const answer = workbench.waitForResponse(
      (each) => each.request().method() === "POST" && each.url().endsWith("/tasks"),
    );
    await card.getByRole("button", { name: "Convert", exact: true }).click();
    ids.push(((await (await answer).json()) as Task).id);
    await expect(card).toContainText("Converting");
  }

  // It is deleted between two polls, none of which sees it cancelled.
  const over = Promise.withResolvers<void>();
  const isPolled = Promise.withResolvers<void>();
  await workbench.route(`**/tasks/${ids[0]}`, async (route) => {
    isPolled.resolve();
    await over.promise;
    await route.continue();
  });
  await isPolled.promise;
  expect((await ask(served, "POST", `/tasks/${ids[0]}/cancel`)).status).toBe(200);
  expect((await ask(served, "DELETE", `/tasks/${ids[0]}`)).status).toBe(204);
  over.resolve();
  await expect(deleted).toContainText("The task no longer exists.");
  await expect(deleted).toContainText("Ready");

  expect((await ask(served, "DELETE", `/keys/${key.id}`)).status).toBe(204);
  await expect(revoked).toContainText("The service does not know this key.");
  await workbench.getByRole("link", { name: "Console", exact: true }).click();
  await expect(workbench.getByRole("alert")).toContainText("may have been revoked");
  await enterService(workbench, served.url, served.console_key);
  await workbench.getByRole("link", { name: "Files", exact: true }).click();
  await expect(revoked).not.toContainText("The service does not know this key.");
  await revoked.getByRole("button", { name: "Cancel" }).click();
  await expect(revoked).toContainText("Cancelled");
  // Other flows count the tasks of this service.
  expect((await ask(served, "DELETE", `/tasks/${ids[1]}`)).status).toBe(204);
  expect(complaints.filter((each) => !/40[14]/.test(each))).toEqual([]);
  complaints.length = 0;
  await origin.close();
});
