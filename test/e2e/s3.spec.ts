import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { readFacts } from "../judge/facts.ts";
import { type Ceph, startCeph } from "../s3/ceph.ts";
import { type S3Proxy, startProxy } from "../s3/proxy.ts";
import { connect, convert, movingClip, named, transparentPicture } from "./result-flow.ts";
import { expect, test } from "./workbench.ts";

// One Ceph serves both.
test.describe.configure({ mode: "default" });

let ceph: Ceph;
let proxy: S3Proxy;
test.beforeAll(async () => {
  ceph = await startCeph();
  proxy = await startProxy(ceph.connection.endpoint);
  await ceph.createBucket("page-open", true);
  await ceph.createBucket("page-closed");
});
test.afterAll(async () => {
  await proxy?.close();
  await ceph?.stop();
});

async function openDialog(page: Page, card: Locator): Promise<Locator> {
  await card.getByRole("button", { name: "Send to S3" }).click();
  return page.getByRole("dialog", { name: "Send to S3" });
}

async function download(key: string, folder: string): Promise<string> {
  const answer = await ceph.ask("page-open", { method: "GET", key });
  expect([key, answer.status]).toEqual([key, 200]);
  const path = join(folder, key.replaceAll("/", "_"));
  await writeFile(path, Buffer.from(await answer.arrayBuffer()));
  return path;
}

test("an output goes to a bucket by keys that stay in the page, and a refusal says what to do", async ({
  workbench,
  folder,
  complaints,
}) => {
  const card = await convert(workbench, await named(await movingClip(), folder, "in/sent film.mp4"));
  const dialog = await openDialog(workbench, card);
  const { endpoint, region, access_key_id, secret_access_key } = ceph.connection;
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(dialog.getByLabel("Bucket", { exact: true })).toHaveAttribute("aria-invalid", "true");
  await dialog.getByLabel("Endpoint").fill(endpoint);
  await dialog.getByLabel("Region").fill(region);
  await dialog.getByLabel("Folder in the bucket").fill("films/");
  const stranger = await ceph.addUser("stranger");
  await dialog.getByLabel("Access key").fill(stranger.access_key_id);
  await dialog.getByLabel("Secret key").fill("not a key");
  await dialog.getByLabel("Bucket", { exact: true }).fill("page-open");
  await expect(dialog.getByText("Give the secret key.")).toBeVisible();
  await dialog.getByLabel("Secret key").fill(stranger.secret_access_key);
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(dialog.getByRole("alert")).toContainText("refuses access to the bucket page-open");

  await dialog.getByLabel("Access key").fill(access_key_id);
  await dialog.getByLabel("Secret key").fill(secret_access_key);
  await dialog.getByLabel("Bucket", { exact: true }).fill("page-closed");
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(dialog.getByRole("alert")).toContainText("could not be reached");
  await expect(dialog.getByText("look at its CORS rules")).toBeVisible();
  await expect(dialog.locator("pre")).toContainText(`"${new URL(workbench.url()).origin}"`);

  await dialog.getByLabel("Bucket", { exact: true }).fill("page-open");
  proxy.fail(() => "hold");
  await dialog.getByLabel("Endpoint").fill(proxy.url);
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect.poll(() => proxy.log.length).toBe(1);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog.getByRole("progressbar")).toBeHidden();
  await expect(dialog.getByRole("alert")).toBeHidden();
  expect((await ceph.ask("page-open", { method: "HEAD", key: "films/sent film.mp4" })).status).toBe(404);

  await dialog.getByLabel("Endpoint").fill(endpoint);
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(dialog.getByText("Sent to s3://page-open/films/sent film.mp4")).toBeVisible();
  const { picture, sound, duration } = await readFacts(await download("films/sent film.mp4", folder));
  expect([picture?.codec, picture?.width, sound?.codec]).toEqual(["h264", 320, "aac"]);
  expect(duration).toBeCloseTo(2, 1);
  const kept = await workbench.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(kept).not.toContain(secret_access_key);
  // What was refused the browser says itself.
  complaints.splice(
    0,
    Infinity,
    ...complaints.filter((text) => !/CORS policy|Failed to load resource/.test(text)),
  );
});

test("an output goes to a bucket by a connection of the service, which signs, and the page holds no secret", async ({
  workbench,
  folder,
  served,
}) => {
  const made = await fetch(`${served.url}/connections`, {
    method: "POST",
    headers: { Authorization: `Bearer ${served.key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Signing Ceph", kind: "s3", ...ceph.connection }),
  });
  expect(made.status).toBe(201);
  await connect(workbench, served);

  const picture = await named(await transparentPicture("64x36"), folder, "in/signed.png");
  const dialog = await openDialog(workbench, await convert(workbench, picture));
  await dialog
    .getByLabel("Access", { exact: true })
    .selectOption({ label: "Signing Ceph, signed by the service" });
  await expect(dialog.getByLabel("Secret key")).toBeHidden();
  await dialog.getByLabel("Bucket", { exact: true }).fill("page-open");
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(dialog.getByText(/Sent to s3:\/\/page-open\/signed\.\w+/)).toBeVisible();
  const said = await dialog.getByText(/Sent to/).textContent();
  const key = said?.replace("Sent to s3://page-open/", "") ?? "";
  expect((await readFacts(await download(key, folder))).picture).toMatchObject({ width: 64, height: 36 });
});
