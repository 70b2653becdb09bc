import { expect, test } from "vitest";
import type { SignRequest } from "../../src/browser/index.ts";
import { createDestinations } from "../workbench.ts";

test("signs each request with the signer registered for its key, the most specific or latest, and no other", async () => {
  const { connection, use } = createDestinations();
  const sign = Reflect.get(connection, "sign") as SignRequest;
  const ask = (bucket: string, key: string) =>
    sign({ method: "PUT", bucket, key, query: {}, content_type: null, content_length: 1 });
  use("films/a.mp4", async () => "https://one.example/");
  use("films/stream/", async () => "https://two.example/");
  expect(await ask("films", "a.mp4")).toBe("https://one.example/");
  expect(await ask("films", "stream/720p/seg_00001.m4s")).toBe("https://two.example/");
  for (const [bucket, key] of [
    ["films", "a.mp4.bak"],
    ["films", "streams/x"],
    ["other", "a.mp4"],
  ] as const)
    await expect(ask(bucket, key)).rejects.toMatchObject({ kind: "upload_forbidden", retryable: false });
  use("films/", async () => "https://four.example/");
  expect(await ask("films", "stream/master.m3u8")).toBe("https://two.example/");
  use("films/a.mp4", async () => "https://three.example/");
  expect(await ask("films", "a.mp4")).toBe("https://three.example/");
});
