import { join } from "node:path";
import { expect } from "vitest";
import { startWorkerd } from "../fixtures/workerd.ts";
import { addFiles } from "./rig.ts";

const CONFIG = 'name = "mine"\nmain = "worker.js"\ncompatibility_date = "2026-11-17"\n';
const WORKER = `import { createLocalClient } from "framewright/browser";
import { createRemoteClient } from "framewright/client";
const local = createLocalClient();
export default {
  async fetch(request) {
    const { baseUrl, apiKey, input } = await request.json();
    const remote = createRemoteClient({ baseUrl, apiKey });
    const options = { format: "png", width: 64 };
    const done = await remote.tasks.wait(await remote.tasks.create({ input, kind: "image", options }));
    const picture = await (await remote.output(done)).blob();
    const { name, kind, message } = await local.tasks.list().catch((error) => error);
    await local.close();
    return Response.json({ status: done.status, type: picture.type, size: picture.size, refusal: { name, kind, message } });
  },
};
`;

/** Has a Worker in a real workerd make a picture at a service and ask the local client for its tasks, and checks what it saw. */
export async function checkWorkerd(
  project: string,
  given: { baseUrl: string; apiKey: string; input: string },
): Promise<void> {
  await addFiles(join(project, "workerd"), { "worker.js": WORKER, "wrangler.toml": CONFIG });
  const workerd = await startWorkerd(join(project, "workerd", "wrangler.toml"));
  try {
    const response = await fetch(workerd.url, { method: "POST", body: JSON.stringify(given) });
    if (!response.ok) throw new Error(`${await response.text()}\n${workerd.output()}`);
    const seen = (await response.json()) as { size: number };
    expect(seen).toEqual({
      ...{ status: "succeeded", type: "image/png", size: expect.any(Number) },
      refusal: {
        ...{ name: "MediaError", kind: "service_unavailable" },
        message: expect.stringMatching(/^The local client runs in a page, .* or use createRemoteClient /),
      },
    });
    expect(seen.size).toBeGreaterThan(100);
    expect(workerd.output()).not.toMatch(/Uncaught|Unhandled/i);
  } finally {
    await workerd.stop();
  }
}
