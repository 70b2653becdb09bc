import { expect } from "vitest";
import type { Storage } from "../../src/runs/ports.ts";
import { createS3Storage, type S3Options } from "../../src/storage/s3/s3.ts";
import { readAll } from "../../src/storage/storage.ts";
import { type Ceph, startCeph } from "../s3/ceph.ts";
import { type S3Proxy, startProxy } from "../s3/proxy.ts";

/**
 * A Ceph with the buckets `contract` and `faults`, shared by all cases of S3 storage; usable between start
 * and stop.
 */
export let ceph: Ceph;
/** A proxy in front of it that fails on demand. */
export let proxy: S3Proxy;

/** Starts both. */
export async function startS3Lab(): Promise<void> {
  ceph = await startCeph();
  proxy = await startProxy(ceph.connection.endpoint);
  await Promise.all(["contract", "faults"].map((name) => ceph.createBucket(name)));
}

/** Stops both. */
export async function stopS3Lab(): Promise<void> {
  await proxy?.close();
  await ceph?.stop();
}

export const MB = 2 ** 20;

/** Storage in the bucket `contract`. */
export const open = (options: Partial<S3Options> = {}): Storage =>
  createS3Storage({ ...ceph.connection, bucket: "contract", pauseMs: 5, ...options });
/** Storage in the bucket `faults`, through the proxy. */
export const faulty = (options: Partial<S3Options> = {}): Storage =>
  open({ endpoint: proxy.url, bucket: "faults", ...options });
/** Noise-like bytes whose period divides no part size. */
export function bytes(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const period = Uint8Array.from(
    { length: 65_521 },
    (_, n) => (Math.imul(n + seed, 2_654_435_761) >>> 13) & 255,
  );
  const whole = new Uint8Array(length);
  for (let at = 0; at < length; at += period.length) whole.set(period.subarray(0, length - at), at);
  return whole;
}
/** A stream of bytes. */
export const stream = (whole: Uint8Array) => new Blob([whole as Uint8Array<ArrayBuffer>]).stream();
/** Asserts that an object holds exactly these bytes. */
export const same = async (storage: Storage, key: string, whole: Uint8Array) => {
  const stored = await storage.read(key);
  expect(stored && Buffer.compare(await readAll(stored.body), whole)).toBe(0);
};
/** An object as text, or null if there is none. */
export const textOf = async (storage: Storage, key: string) => {
  const stored = await storage.read(key);
  return stored && new TextDecoder().decode(await readAll(stored.body));
};
/** Resolves to the reason of a rejection, or null. */
export const fault = (work: Promise<unknown>) =>
  work.then(
    () => null,
    ({ kind, message, retryable }) => ({ kind, message, retryable }),
  );
