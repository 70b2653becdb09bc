import { expect } from "vitest";
import type { Connection } from "../../../src/runs/connection.ts";
import type { Step } from "../../../src/runs/step.ts";
import type { Upload, UploadPart } from "../../../src/runs/upload.ts";
import { type Ceph, startCeph } from "../../s3/ceph.ts";
import { type Bindings, createRig } from "../engine/rig.ts";

export const MIB = 2 ** 20;

/** The whole service with a connection to a Ceph; usable between start and stop. */
export const rig = createRig();
/** The service's URL. */
export let base: string;
export let ceph: Ceph;
export let env: Bindings;
/** The default connection. */
export let connection: Connection;

/** Starts both, with a bucket `bucket-in` that allows pages of every origin. */
export async function startUploadLab(): Promise<void> {
  const [storage, { url }] = await Promise.all([startCeph(), rig.server.listen()]);
  [ceph, base] = [storage, url.origin];
  env = await rig.worker().getEnv();
  await ceph.createBucket("bucket-in", true);
  connection = await create("/connections", connectionOf("Ceph"));
}

/** Stops both. */
export async function stopUploadLab(): Promise<void> {
  await rig.server.close();
  await ceph?.stop();
}

/** A request for a connection to the Ceph. */
export const connectionOf = (name: string) => ({ name, kind: "s3", ...ceph.connection });

export const post = (path: string, body: unknown, key?: string) =>
  rig.call(path, { method: "POST", body, ...(key && { key }) });

export async function create<T>(path: string, body: unknown): Promise<T> {
  const answer = await post(path, body);
  expect([answer.status, answer.json.message]).toEqual([201, undefined]);
  return answer.json;
}

// The length does not divide a part's size, so that misplaced parts differ.
const PATTERN = Uint8Array.from({ length: 251 }, (_, n) => (n * 97) % 251);
export const bytes = (length: number) => Uint8Array.from(Buffer.alloc(length, PATTERN));
export const begin = (body: object) => create<Upload>("/uploads", { content_type: "video/mp4", ...body });
export const put = (
  { url, headers }: Pick<UploadPart, "url" | "headers">,
  body: Uint8Array<ArrayBuffer>,
  more = {},
) => fetch(url, { method: "PUT", headers: { ...headers, ...more }, body });
/** Uploads all parts as a page does, the last one first. */
export async function putAll({ parts }: Upload, whole: Uint8Array<ArrayBuffer>) {
  let end = whole.length;
  const put_parts: { part: number; etag: string }[] = [];
  for (const each of parts.toReversed()) {
    const answer = await put(each, whole.slice(end - each.size, end));
    expect(answer.status).toBe(200);
    put_parts.unshift({ part: each.part, etag: answer.headers.get("etag") ?? "" });
    end -= each.size;
  }
  expect(end).toBe(0);
  return put_parts;
}
export const read = async (url: string) => new Uint8Array(await (await fetch(url)).arrayBuffer());
export const stored = async () => (await env.MEDIA.list({ prefix: "in/" })).objects.map(({ key }) => key);
export async function ingest(url: string): Promise<Step> {
  return rig.finishedStep((await create<Step>("/steps", { kind: "ingest", input: { url } })).id);
}
