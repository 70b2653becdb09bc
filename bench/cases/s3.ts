import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { noise, virtualFile } from "../../test/fixtures/virtual-file.ts";
import { type Ceph, startCeph } from "../../test/s3/ceph.ts";
import { findProgram } from "../../worker/local/system.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { medianOf } from "../measure.ts";
import { usageError } from "../options.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { makeScratch } from "../scratch.ts";
import { S3_PARTS, type S3Uploaded } from "./s3-upload.ts";

const BYTES = 1_000_000_000;
// Warms up with the code that any upload loads.
const SMALL = 20_000_000;
const BUCKET = "bench";
const KEY = "large.bin";
const PROGRAM = join(import.meta.dirname, "s3-upload.ts");
const { partBytes, partsAtOnce } = S3_PARTS;

/**
 * 1 GB from a local file to a Ceph that keeps everything in memory, by a program that uses the library: its time against
 * rclone's with parts of the same size and number, and its memory.
 */
export const s3Benchmarks: readonly Benchmark[] = [
  { name: "s3-upload-vs-rclone", unit: "s", open: openTime },
  { name: "s3-upload-memory", unit: "MB", open: openMemory },
];

async function openTime(ends: AsyncDisposableStack): Promise<Contest> {
  if (!findProgram("rclone"))
    usageError(
      "rclone is missing on this machine: apt-get install rclone, to have something to compare with.",
    );
  const { ceph, files, upload } = await openUpload(ends);
  const [, file] = files;
  return {
    async peer() {
      const { seconds } = await runCommand("rclone", rcloneArgs(file), rcloneEnv(ceph));
      await discard(ceph);
      return { value: seconds };
    },
    async ours() {
      const { seconds, uploaded } = await upload(file);
      return { value: seconds, upload: uploaded.seconds };
    },
    notes(ours, peer) {
      const speed = (samples: readonly Measurement[]) =>
        `${short(BYTES / 1e6 / medianOf(samples, "value"))} MB/s`;
      return [
        `1 GB in parts of ${partBytes / 2 ** 20} MiB, ${partsAtOnce} at once, from a file to Ceph on the same machine; each a process from its start to its end:`,
        `ours ${speed(ours)} (${short(medianOf(ours, "upload"))} s without the start of Node), each part signed with its SHA-256, rclone ${speed(peer)}`,
      ].join(" ");
    },
  };
}

async function openMemory(ends: AsyncDisposableStack): Promise<Contest> {
  const { files, upload } = await openUpload(ends);
  return {
    peer: null,
    async ours() {
      const { uploaded } = await upload(...files);
      return { value: uploaded.peak_mb - uploaded.before_mb, before: uploaded.before_mb };
    },
    notes(ours) {
      const worst = Math.max(...ours.map(({ value }) => value));
      return `1 GB in parts of ${partBytes / 2 ** 20} MiB, ${partsAtOnce} at once; peak of a Node process over the ${short(medianOf(ours, "before"))} MB that it had after an upload of 20 MB, worst ${short(worst)}`;
    },
  };
}

async function openUpload(ends: AsyncDisposableStack) {
  const ceph = await startCeph();
  ends.defer(() => ceph.stop());
  await ceph.createBucket(BUCKET);
  const dir = await makeScratch(ends);
  const files = [await makeFile(dir, SMALL), await makeFile(dir, BYTES)] as const;
  return {
    ceph,
    files,
    /** Uploads files in turn; the last one is measured. */
    async upload(...files: string[]): Promise<{ seconds: number; uploaded: S3Uploaded }> {
      const order = JSON.stringify({ ...ceph.connection, bucket: BUCKET, key: KEY, files });
      const { seconds, stdout } = await runCommand("node", [PROGRAM, order]);
      await discard(ceph);
      return { seconds, uploaded: JSON.parse(stdout) as S3Uploaded };
    },
  };
}

async function makeFile(dir: string, bytes: number): Promise<string> {
  const path = join(dir, `${bytes}.bin`);
  await writeFile(path, virtualFile([noise(bytes)]).read(0, bytes));
  return path;
}

// Deleted objects stay in Ceph's memory until they are collected.
async function discard(ceph: Ceph): Promise<void> {
  const stored = await ceph.ask(BUCKET, { method: "HEAD", key: KEY });
  if (Number(stored.headers.get("content-length")) !== BYTES) throw new Error("Not all bytes arrived.");
  await ceph.ask(BUCKET, { method: "DELETE", key: KEY });
  await ceph.collect();
}

function rcloneArgs(file: string): string[] {
  return [
    ...["copyto", file, `ceph:${BUCKET}/${KEY}`, "--s3-no-check-bucket", "--retries", "1"],
    ...["--s3-upload-cutoff", `${partBytes / 1024}K`, "--s3-chunk-size", `${partBytes / 1024}K`],
    ...["--s3-upload-concurrency", String(partsAtOnce)],
  ];
}

// Only the connection, independent of the environment's settings.
function rcloneEnv({ connection }: Ceph): Record<string, string> {
  return {
    RCLONE_CONFIG: "/dev/null",
    RCLONE_CONFIG_CEPH_TYPE: "s3",
    RCLONE_CONFIG_CEPH_PROVIDER: "Ceph",
    RCLONE_CONFIG_CEPH_ENDPOINT: connection.endpoint,
    RCLONE_CONFIG_CEPH_ACCESS_KEY_ID: connection.access_key_id,
    RCLONE_CONFIG_CEPH_SECRET_ACCESS_KEY: connection.secret_access_key,
  };
}
