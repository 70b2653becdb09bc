import { Hono } from "hono";

interface Bucket {
  createMultipartUpload(key: string): Promise<{
    uploadPart(number: number, bytes: Uint8Array): Promise<unknown>;
    complete(parts: unknown[]): Promise<unknown>;
  }>;
}

interface Values {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
}

// The least that answers as the service does: JSON in, JSON of a task's size out, nothing checked and nothing kept.
const app = new Hono<{ Bindings: { MEDIA: Bucket; KV: Values } }>();
const step = { object: "step", input: null, options: {}, output: null, status: "waiting", progress: null };
const times = { created_at: 1, started_at: null, finished_at: null, updated_at: 1 };
const steps = ["probe", "ingest", "audio", "upload"].map((kind, n) => ({
  ...{ id: `step_${"0".repeat(25)}${n}`, kind, error: null },
  ...step,
  ...times,
}));
const task = (id: string, input: unknown) => ({
  ...{ id, object: "task", kind: "audio", input, output: null, options: {}, metadata: {} },
  ...{ status: "queued", error: null, steps },
  ...times,
});

app.post("/tasks", async (c) => {
  const body = await c.req.json<{ input: string }>();
  return c.json(task(`task_${"0".repeat(26)}`, body.input), 201);
});
app.get("/tasks/:id", (c) => c.json(task(c.req.param("id"), "https://example.com/a.mp3")));

// One text, kept and given as it is.
app.put("/kv", async (c) => {
  await c.env.KV.put("page", await c.req.text());
  return c.body(null, 204);
});
app.get("/kv", async (c) => c.body((await c.env.KV.get("page")) ?? ""));

// Bytes that come from nowhere, so that the time is that of storage alone.
app.put("/storage/:bytes", async (c) => {
  const part = new Uint8Array(5 * 1024 * 1024);
  const upload = await c.env.MEDIA.createMultipartUpload("bytes");
  const parts: unknown[] = [];
  for (let left = Number(c.req.param("bytes")); left > 0; left -= part.length) {
    parts.push(await upload.uploadPart(parts.length + 1, part.subarray(0, Math.min(left, part.length))));
  }
  await upload.complete(parts);
  return c.body(null, 204);
});

export default app;
