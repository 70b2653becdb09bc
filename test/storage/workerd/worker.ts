import type { KVNamespace, R2Bucket } from "@cloudflare/workers-types";
import { Task } from "../../../src/runs/task.ts";
import { createKvStore } from "../../../src/stores/kv.ts";
import { createDiskBucket, type DiskService } from "../../../worker/network/disk-bucket.ts";
import { createR2Storage } from "../../../worker/network/r2-storage.ts";
import { STORE_CONTRACT } from "../../stores/contract.ts";
import { STORAGE_CONTRACT } from "../contract.ts";
import { type HttpOperation, runHttpOperation } from "../http-operations.ts";
import { R2_FAULTS } from "../r2-faults.ts";

interface Env {
  KV: KVNamespace;
  MEDIA: R2Bucket;
  /** A directory in the place of MEDIA. */
  DISK?: DiskService;
}

/** Runs the contracts on the real bindings, and HTTP operations on workerd's own network. */
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const url = new URL(request.url);
    const storage = createR2Storage(env.DISK ? createDiskBucket(env.DISK) : env.MEDIA);
    if (url.pathname === "/http") {
      return Response.json(await runHttpOperation((await request.json()) as HttpOperation, storage));
    }
    if (url.pathname === "/stored") {
      const stored = await storage.read(url.searchParams.get("key") ?? "");
      return stored ? new Response(stored.body) : new Response(null, { status: 404 });
    }
    if (url.pathname === "/clear") {
      await storage.clear(url.searchParams.get("prefix") ?? "");
      return new Response("cleared");
    }
    if (url.pathname === "/complete-twice" && env.DISK) {
      const bucket = createDiskBucket(env.DISK);
      const upload = await bucket.createMultipartUpload("twice");
      const part = await upload.uploadPart(1, new TextEncoder().encode("whole"));
      for (let times = 0; times < 2; times++) await upload.complete([part]);
      return new Response(await (await bucket.get("twice"))?.text());
    }
    const name = url.searchParams.get("name");
    const store = createKvStore<Task>(env.KV, { prefix: "task:", parse: (value) => Task.parse(value) });
    const check =
      url.pathname === "/storage"
        ? STORAGE_CONTRACT.find((clause) => clause.name === name)?.check(storage)
        : url.pathname === "/faults"
          ? R2_FAULTS.find((clause) => clause.name === name)?.check(env.MEDIA)
          : STORE_CONTRACT.find((clause) => clause.name === name)?.check(store);
    if (!check) return new Response("no such clause", { status: 404 });
    return check.then(
      () => new Response("kept"),
      (thrown) => new Response(String(thrown?.stack ?? thrown), { status: 500 }),
    );
  },
};
