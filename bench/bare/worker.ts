import { Hono } from "hono";

// The least that answers as the service does: JSON in, JSON of a task's size out, nothing checked and nothing kept.
const app = new Hono();
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

app.get("/health", (c) => c.json({ status: "ok" }));
app.post("/tasks", async (c) => {
  const body = await c.req.json<{ input: string }>();
  return c.json(task(`task_${"0".repeat(26)}`, body.input), 201);
});
app.get("/tasks/:id", (c) => c.json(task(c.req.param("id"), "https://example.com/a.mp3")));

export default app;
