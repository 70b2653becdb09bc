import { expect, test } from "vitest";
import { createSeal, createSealOf } from "../../../worker/connections/seal.ts";

const NEW = "the newest of the keys";
const OLD = "the key before that one";

test("a sealed text opens again, only for its own record", async () => {
  const seal = createSeal([NEW]);
  const sealed = await seal.seal("wJalr/ü", "mine/conn_1");
  expect(sealed).not.toContain("wJalr");
  expect(await seal.open(sealed, "mine/conn_1")).toBe("wJalr/ü");
  await expect(seal.open(sealed, "mine/conn_2")).rejects.toThrow();
  await expect(seal.open(sealed, "theirs/conn_1")).rejects.toThrow();
});

test("sealing the same text twice never gives the same result", async () => {
  const seal = createSeal([NEW]);
  const sealed = await Promise.all(Array.from({ length: 50 }, () => seal.seal("secret", "owner")));
  expect(new Set(sealed).size).toBe(50);
});

test("an altered sealed text does not open", async () => {
  const seal = createSeal([NEW]);
  const sealed = await seal.seal("secret", "owner");
  for (let at = 0; at < sealed.length; at += 3) {
    const altered = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") + sealed.slice(at + 1);
    // The last base64 character may hold bits that are ignored.
    if (at === sealed.length - 1) continue;
    await expect(seal.open(altered, "owner"), altered).rejects.toThrow();
  }
});

test("after a key change the old key still opens and the new one seals", async () => {
  const sealed = await createSeal([OLD]).seal("secret", "owner");
  const both = createSeal([NEW, OLD]);
  expect(await both.open(sealed, "owner")).toBe("secret");
  expect(await both.isCurrent(sealed)).toBe(false);
  const current = await both.seal("secret", "owner");
  expect(await both.isCurrent(current)).toBe(true);
  expect(await createSeal([NEW]).open(current, "owner")).toBe("secret");
  const opened = createSeal([NEW]).open(sealed, "owner");
  await expect(opened).rejects.toThrow("No key in CONNECTION_KEYS opens this.");
});

test("without keys, each use names what needs them", async () => {
  const seal = createSealOf({ settings: { CONNECTION_KEYS: undefined } });
  const message =
    "Connections, webhooks and encrypted streams are not set up here: the secret CONNECTION_KEYS is missing.";
  await expect(seal.seal("key", "mine/task_1")).rejects.toMatchObject({
    kind: "service_unavailable",
    retryable: false,
    message,
  });
});
