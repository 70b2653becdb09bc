import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { startWorkerd } from "../fixtures/workerd.ts";
import { ROOT } from "../structure/source-files.ts";
import { addFiles, runIn } from "./rig.ts";

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

/** Checks in a real workerd that a Worker can run a task on a service, and that the local client rejects there. */
export async function checkWorkerd(
  project: string,
  call: { baseUrl: string; apiKey: string; input: string },
): Promise<void> {
  await addFiles(join(project, "workerd"), { "worker.js": WORKER, "wrangler.toml": CONFIG });
  const workerd = await startWorkerd(join(project, "workerd", "wrangler.toml"));
  try {
    const response = await fetch(workerd.url, { method: "POST", body: JSON.stringify(call) });
    if (!response.ok) throw new Error(`${await response.text()}\n${workerd.output()}`);
    const body = (await response.json()) as { size: number };
    expect(body).toEqual({
      ...{ status: "succeeded", type: "image/png", size: expect.any(Number) },
      refusal: {
        ...{ name: "MediaError", kind: "service_unavailable" },
        message: expect.stringMatching(/^The local client runs in a page, .* or use createRemoteClient /),
      },
    });
    expect(body.size).toBeGreaterThan(100);
    expect(workerd.output()).not.toMatch(/Uncaught|Unhandled/i);
  } finally {
    await workerd.stop();
  }
}

/** Bundles the package's service with wrangler, and checks that its Durable Objects and workflow are exported. */
export async function checkBundles(project: string): Promise<void> {
  const worker = (name: string) =>
    `export * from "framewright/${name}";\nexport { default } from "framewright/${name}";\n`;
  const toml = (main: string, more = "") =>
    `name = "mine"\nmain = "${main}"\ncompatibility_date = "2026-11-17"\n${more}`;
  await addFiles(project, {
    "edge/service.js": worker("worker"),
    "edge/wrangler.toml": toml("service.js"),
  });
  // Packages that only a service needs, and installs itself.
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const server = ["hono", "@cloudflare/containers"];
  const named = server.map((name) => `${name}@${devDependencies[name]}`);
  const quiet = ["--no-save", "--prefer-offline", "--no-audit", "--no-fund"];
  await runIn(project, "npm", ["install", ...quiet, ...named]);
  const wrangler = join(ROOT, "node_modules/.bin/wrangler");
  await runIn(join(project, "edge"), wrangler, ["deploy", "--dry-run", "--outdir", "built"]);
  const built = await readFile(join(project, "edge", "built", "service.js"), "utf8");
  for (const name of ["TaskObject", "ProjectObject", "KeyObject", "TaskWorkflow", "NativeEncoder"]) {
    expect(built).toMatch(new RegExp(`\\b${name}\\b`));
  }
}
