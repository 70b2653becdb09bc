import { serve } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { createRemoteClient } from "framewright/client";
import { Hono } from "hono";

// The server for upload.html, which alone holds the key. Yours should first check who asks, and for what.
const { SERVICE_URL, SERVICE_KEY, PORT = "8080" } = process.env;
const client = createRemoteClient({ baseUrl: SERVICE_URL, apiKey: SERVICE_KEY });

const app = new Hono();
app.post("/uploads", async (c) => {
  const { name, content_type, size } = await c.req.json();
  return c.json(await client.uploads.create({ name, content_type, size }));
});
app.post("/tasks", async (c) => {
  const { upload } = await c.req.json();
  const { url } = await client.uploads.complete(upload);
  const options = { width: "50%" };
  return c.json(await client.tasks.create({ input: url, kind: "video", options }));
});
app.get("/tasks/:id", async (c) => c.json(await client.tasks.get(c.req.param("id"))));
app.use(serveStatic({ root: "." }));

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(PORT) }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/upload.html`);
});
