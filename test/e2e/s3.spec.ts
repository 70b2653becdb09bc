import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { readFacts } from "../judge/facts.ts";
import { type Ceph, startCeph } from "../s3/ceph.ts";
import { type S3Proxy, startProxy } from "../s3/proxy.ts";
import { clear } from "./edge-flow.ts";
import { connect, convert, expectStream, movingClip, named, transparentPicture } from "./result-flow.ts";
import { expect, test } from "./workbench.ts";

// Both tests share one Ceph.
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

async function keysBelow(prefix: string): Promise<string[]> {
  const query = { "list-type": "2", prefix };
  const listed = await (await ceph.ask("page-open", { method: "GET", key: "", query })).text();
  expect(listed).toContain("<ListBucketResult");
  return [...listed.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key ?? "");
}

async function download(key: string, folder: string): Promise<string> {
  const answer = await ceph.ask("page-open", { method: "GET", key });
  expect([key, answer.status]).toEqual([key, 200]);
  const path = join(folder, key);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, Buffer.from(await answer.arrayBuffer()));
  return path;
}

test("sends an output to a bucket without keeping the keys in web storage; errors say what to do", async ({
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
  await expect(dialog.getByText("Enter the secret key.")).toBeVisible();
  await dialog.getByLabel("Secret key").fill(stranger.secret_access_key);
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(dialog.getByRole("alert")).toContainText("refuses access to the bucket page-open");

  await dialog.getByLabel("Access key").fill(access_key_id);
  await dialog.getByLabel("Secret key").fill(secret_access_key);
  await dialog.getByLabel("Bucket", { exact: true }).fill("page-closed");
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(dialog.getByRole("alert")).toContainText("could not be reached");
  await expect(dialog.getByText("check its CORS rules")).toBeVisible();
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
  const storedValues = await workbench.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
  );
  expect(storedValues).not.toContain(secret_access_key);
  // Chromium logs failed requests itself.
  complaints.splice(
    0,
    Infinity,
    ...complaints.filter((text) => !/CORS policy|Failed to load resource/.test(text)),
  );
});

test("a connection created and tested in the console receives a task's output, and signs the upload of a stream for the page", async ({
  workbench,
  folder,
  served,
}) => {
  // A connection left by an earlier attempt would be the default.
  await clear({ ...served, console_key: served.key }, "/connections");
  await connect(workbench, served);
  await workbench.getByRole("link", { name: "Console", exact: true }).click();
  await workbench.getByRole("link", { name: "Connections" }).click();
  await workbench.getByRole("button", { name: "New connection" }).click();
  const dialog = workbench.getByRole("dialog");
  const { endpoint, region, access_key_id, secret_access_key } = ceph.connection;
  await dialog.getByLabel("Name", { exact: true }).fill("Signing Ceph");
  await dialog.getByLabel("Endpoint").fill(endpoint);
  await dialog.getByLabel("Region").fill(region);
  await dialog.getByLabel("Key id").fill(access_key_id);
  await dialog.getByLabel("Secret").fill(secret_access_key);
  await dialog.getByLabel("Signed requests").fill("GET,PUT page-open/");
  await dialog.getByRole("button", { name: "Create" }).click();
  await workbench.getByRole("button", { name: "Test Signing Ceph" }).click();
  await dialog.getByLabel("Bucket").fill("page-open");
  await dialog.getByLabel("Folder").fill("tried/");
  await dialog.getByRole("button", { name: "Test", exact: true }).click();
  await expect(dialog.getByText("It works: an object was written, read and deleted.")).toBeVisible();
  expect(await keysBelow("tried/")).toEqual([]);
  await dialog.getByRole("button", { name: "Done" }).click();

  const picture = await readFile(await transparentPicture("64x36"));
  // Unique, so that no earlier attempt has a task of that name.
  const name = `${basename(folder)}.png`;
  await ceph.ask("page-open", { method: "PUT", key: name, body: picture });
  await workbench.getByRole("link", { name: "Tasks" }).click();
  await workbench.getByRole("button", { name: "New task" }).click();
  await dialog.getByLabel("Source").fill(`s3://page-open/${name}`);
  await dialog.getByLabel("Output").selectOption({ label: "Image" });
  await dialog.getByLabel("Format").selectOption("webp");
  await expect(dialog.getByText("through the connection “Signing Ceph”")).toBeVisible();
  await dialog.getByLabel("Destination").fill("s3://page-open/made/by task.webp");
  await dialog.getByRole("button", { name: "Create" }).click();
  const row = workbench.getByRole("row").filter({ hasText: name });
  await expect(row).toContainText("Done");
  await row.getByRole("button", { name: /^Details/ }).click();
  await expect(workbench.getByText("s3://page-open/made/by task.webp")).toBeVisible();
  const output = (await readFacts(await download("made/by task.webp", folder))).picture;
  expect(output).toMatchObject({ codec: "webp", width: 64, height: 36 });

  await workbench.getByRole("link", { name: "Files", exact: true }).click();
  const clip = await named(await movingClip(), folder, "in/sent stream.mp4");
  const card = await convert(workbench, clip, "HLS for my site");
  const count = Number(/Files(\d+),/.exec((await card.locator(".facts").textContent()) ?? "")?.[1]);
  const sending = await openDialog(workbench, card);
  await sending
    .getByLabel("Access", { exact: true })
    .selectOption({ label: "Signing Ceph, signed by the service" });
  await expect(sending.getByLabel("Secret key")).toBeHidden();
  await sending.getByLabel("Bucket", { exact: true }).fill("page-open");
  await sending.getByLabel("Folder in the bucket").fill("streams/");
  await sending.getByRole("button", { name: "Send" }).click();
  const at = "streams/sent stream/";
  await expect(sending.getByText(`Sent to s3://page-open/${at}master.m3u8`)).toBeVisible();
  const keys = await keysBelow(at);
  expect(keys).toHaveLength(count);
  for (const key of keys) await download(key, folder);
  await expectStream(join(folder, at, "master.m3u8"));
});
