import { expect, test } from "vitest";
import { createIds } from "../../../src/runs/ids.ts";
import { createEndpoint } from "../../../src/runs/webhook-events.ts";
import { createSeal } from "../../../worker/connections/seal.ts";
import { createWebhooks, openSecret, ownerOf } from "../../../worker/webhooks/webhooks.ts";
import { createMemoryHome, createMemoryWebhookQueue } from "../api/memory-webhooks.ts";

const OLD = "the first of the keys";
const BOTH = `the second of the keys, ${OLD}`;
const NEW = "the second of the keys";

function createProject() {
  const queue = createMemoryWebhookQueue();
  const open = (keys: string) =>
    createWebhooks(
      () => createMemoryHome(queue),
      createSeal(keys.split(", ")),
      async () => "delivery",
      Date.now,
    );
  return { queue, open };
}
const endpoint = () => createEndpoint({ url: "https://example.com/" }, createIds(Math.random), Date.now());

test("stores secrets sealed, each for its own owner", async () => {
  const { queue, open } = createProject();
  const one = await open(OLD).create("mine", endpoint());
  await open(OLD).prepare("mine");
  await open(OLD).prepare("mine");
  const stored = queue.secrets.all();
  expect(stored.map(({ owner }) => owner)).toEqual([one.id, "webhook_url"]);
  expect(JSON.stringify(stored)).not.toMatch(/whsec_/);
  const { sealed = "" } = stored[0] ?? {};
  const seal = createSeal([OLD]);
  expect(await openSecret(seal, ownerOf("mine", one.id), sealed)).toEqual({
    secret: one.secret,
    resealed: null,
  });
  await expect(openSecret(seal, ownerOf("theirs", one.id), sealed)).rejects.toThrow();
  await expect(openSecret(seal, ownerOf("mine", "webhook_url"), sealed)).rejects.toThrow();
});

test("reencrypt reseals all secrets after a key change, and lists those that no key opens", async () => {
  const { queue, open } = createProject();
  const lost = await open("a key that is gone by now").create("mine", endpoint());
  const one = await open(OLD).create("mine", endpoint());
  const second = await open(OLD).rotate("mine", one.id, 60);
  expect(await open(BOTH).reencrypt("mine")).toEqual({
    webhook_secrets: 3,
    reencrypted: 2,
    failed: [lost.id],
  });
  expect(await open(NEW).reencrypt("mine")).toEqual({
    webhook_secrets: 3,
    reencrypted: 0,
    failed: [lost.id],
  });
  const opened = queue.secrets
    .of(one.id, Date.now())
    .map(async (sealed) => (await openSecret(createSeal([NEW]), ownerOf("mine", one.id), sealed)).secret);
  expect(await Promise.all(opened)).toEqual([second.secret, one.secret]);
});
