import { expect } from "vitest";
import type { Storage } from "../../src/core/ports.ts";
import { readAll } from "../../src/storage/read-all.ts";
import { createS3Storage, type S3Options } from "../../src/storage/s3/s3.ts";
import { type Ceph, startCeph } from "../s3/ceph.ts";
import { type S3Proxy, startProxy } from "../s3/proxy.ts";

/** A Ceph with the buckets `contract` and `faults`, which all cases of S3 storage share; good between start and stop. */
export let ceph: Ceph;
/** Stands before it, and fails as it is told. */
export let proxy: S3Proxy;

/** Starts both. */
export async function startS3Lab(): Promise<void> {
  ceph = await startCeph();
  proxy = await startProxy(ceph.connection.endpoint);
  await Promise.all(["contract", "faults"].map((name) => ceph.createBucket(name)));
}

/** Ends both. */
export async function stopS3Lab(): Promise<void> {
  await proxy?.close();
  await ceph?.stop();
}

export const MB = 2 ** 20;

/** Storage in the bucket `contract`. */
export const open = (options: Partial<S3Options> = {}): Storage =>
  createS3Storage({ ...ceph.connection, bucket: "contract", pauseMs: 5, ...options });
/** Storage in the bucket `faults`, by way of the proxy. */
export const faulty = (options: Partial<S3Options> = {}): Storage =>
  open({ endpoint: proxy.url, bucket: "faults", ...options });
/** Bytes that look like noise, of a period that divides no size of a part. */
export function bytes(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const period = Uint8Array.from(
    { length: 65_521 },
    (_, n) => (Math.imul(n + seed, 2_654_435_761) >>> 13) & 255,
  );
  const whole = new Uint8Array(length);
  for (let at = 0; at < length; at += period.length) whole.set(period.subarray(0, length - at), at);
  return whole;
}
/** A stream of them. */
export const stream = (whole: Uint8Array) => new Blob([whole as Uint8Array<ArrayBuffer>]).stream();
/** Expects an object to be just these bytes. */
export const same = async (storage: Storage, key: string, whole: Uint8Array) => {
  const stored = await storage.read(key);
  expect(stored && Buffer.compare(await readAll(stored.body), whole)).toBe(0);
};
/** An object as text; null where there is none. */
export const textOf = async (storage: Storage, key: string) => {
  const stored = await storage.read(key);
  return stored && new TextDecoder().decode(await readAll(stored.body));
};
/** What work rejected with; null where it did not. */
export const fault = (work: Promise<unknown>) =>
  work.then(
    () => null,
    ({ kind, message, retryable }) => ({ kind, message, retryable }),
  );
