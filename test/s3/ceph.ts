import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { S3Connection } from "../../src/storage/s3/s3-connection.ts";
import { createS3Signer, type S3Request } from "../../src/storage/s3/s3-sign.ts";
import { findProgram, TOOLS, type Tool } from "../../worker/local/system.ts";

/** A private Ceph on loopback, which speaks S3 and checks signatures; everything is in memory. */
export interface Ceph {
  readonly connection: S3Connection;
  /** Creates a bucket, optionally with CORS rules for pages of every origin. */
  createBucket(name: string, cors?: boolean): Promise<void>;
  /** Sends a signed request unchanged. */
  ask(bucket: string, request: S3Request): Promise<Response>;
  /** Keys of multipart uploads in a bucket that were neither completed nor aborted. */
  unfinished(bucket: string): Promise<string[]>;
  /** Frees the memory of deleted and overwritten objects. */
  collect(): Promise<void>;
  /** Limits each bucket to this many bytes; null removes the limit. */
  limit(bytes: number | null): Promise<void>;
  /** Creates another user without access to the buckets of the first; returns the keys. */
  addUser(name: string): Promise<Pick<S3Connection, "access_key_id" | "secret_access_key">>;
  stop(): Promise<void>;
}

const execute = promisify(execFile);

const NEEDED = ["radosgw", "ceph-mon", "ceph-osd"] as const satisfies readonly Tool[];
const CORS = `<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin>${[
  "GET",
  "HEAD",
  "PUT",
  "POST",
  "DELETE",
]
  .map((method) => `<AllowedMethod>${method}</AllowedMethod>`)
  .join(
    "",
  )}<AllowedHeader>*</AllowedHeader><ExposeHeader>ETag</ExposeHeader><ExposeHeader>Content-Range</ExposeHeader>
</CORSRule></CORSConfiguration>`;

/** Starts a Ceph on free ports in a new folder, within a few seconds. */
export async function startCeph(): Promise<Ceph> {
  // Another process may take a port before Ceph does.
  return start().catch(start);
}

async function start(): Promise<Ceph> {
  const missing = NEEDED.filter((name) => !findProgram(name));
  if (missing.length > 0) {
    throw new Error(`${missing.join(", ")} missing: install ${NEEDED.map((name) => TOOLS[name]).join(" ")}.`);
  }
  // Socket paths must be short.
  const folder = await mkdtemp(join(tmpdir(), "ceph-"));
  const [port, monitor] = [await freePort(), await freePort()];
  const connection: S3Connection = {
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    access_key_id: "TESTACCESSKEY",
    secret_access_key: "test/secret+key=",
  };
  const { access_key_id, secret_access_key } = connection;
  const child = spawn(
    "bash",
    [
      join(import.meta.dirname, "ceph.sh"),
      folder,
      String(port),
      String(monitor),
      access_key_id,
      secret_access_key,
    ],
    { stdio: ["pipe", "ignore", "pipe"] },
  );
  let output = "";
  child.stderr.on("data", (bytes) => {
    output = (output + bytes).slice(-4000);
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    child.stdin.destroy();
    await ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const admin = (...args: string[]) => execute("radosgw-admin", ["-c", join(folder, "ceph.conf"), ...args]);
  const ask = async (bucket: string, request: S3Request) => {
    const { url, headers } = await createS3Signer(connection, bucket).sign(request);
    return fetch(url, { method: request.method, headers, body: request.body ?? null });
  };
  try {
    await waitForAnswer(connection.endpoint, () => child.exitCode === null && child.signalCode === null);
  } catch (thrown) {
    await stop();
    throw new Error(`Ceph did not start: ${output}`, { cause: thrown });
  }
  return {
    connection,
    ask,
    async createBucket(name, cors = false) {
      const answer = await ask(name, { method: "PUT", key: "" });
      if (!answer.ok) throw new Error(`The bucket was not answer: ${await answer.text()}`);
      if (!cors) return;
      const body = new TextEncoder().encode(CORS);
      const ruled = await ask(name, { method: "PUT", key: "", query: { cors: "" }, body });
      if (!ruled.ok) throw new Error(`The bucket took no rules: ${await ruled.text()}`);
    },
    async unfinished(bucket) {
      const listed = await (await ask(bucket, { method: "GET", key: "", query: { uploads: "" } })).text();
      return [...listed.matchAll(/<Upload><Key>(.*?)<\/Key>/g)].map(([, key]) => key ?? "");
    },
    async collect() {
      await admin("gc", "process", "--include-all");
    },
    async limit(bytes) {
      const of = ["--uid=test", "--quota-scope=bucket"];
      if (bytes !== null) await admin("quota", "set", ...of, `--max-size=${bytes}`);
      await admin("quota", bytes === null ? "disable" : "enable", ...of);
    },
    async addUser(name) {
      const keys = { access_key_id: `KEYOF${name}`, secret_access_key: `secret/of+${name}` };
      const keyArgs = [`--access-key=${keys.access_key_id}`, `--secret-key=${keys.secret_access_key}`];
      await admin("user", "create", `--uid=${name}`, `--display-name=${name}`, ...keyArgs);
      return keys;
    },
    stop,
  };
}

async function waitForAnswer(url: string, alive: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return;
    if (!alive() || Date.now() > end) throw new Error("Ceph does not answer.");
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
