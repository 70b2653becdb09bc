import { expect, test } from "vitest";
import { addFiles, runIn } from "./rig.ts";

// Calls every method of the local client without a page, and prints the errors.
const NODE = `import "framewright";
import "framewright/client";
import "framewright/plan";
import "framewright/webhooks";
import { createLocalClient } from "framewright/browser";
process.on("unhandledRejection", (reason) => console.log("unhandled", reason));
const client = createLocalClient();
const id = "task_01kbb1d3x4e8v0t6m9q2y5z7av";
client.on(id, "update", () => console.log("an update"));
const input = new Blob(["a"]);
const each = async (list) => { for await (const _ of list) console.log("a record"); };
const calls = {
  ...Object.fromEntries(["get", "cancel", "retry", "delete"].map((name) => ["tasks." + name, () => client.tasks[name](id)])),
  ...Object.fromEntries(["get", "cancel", "delete"].map((name) => ["steps." + name, () => client.steps[name](id)])),
  ...Object.fromEntries(["get", "wait", "cancel", "delete"].map((name) => ["jobs." + name, () => client.jobs[name]("job_01kbb1d3x4e8v0t6m9q2y5z7av")])),
  "jobs.create": () => client.jobs.create({ input, outputs: [{ kind: "video" }, { kind: "image", after: 0 }] }),
  "jobs.list": () => client.jobs.list(),
  "jobs.each": () => each(client.jobs.each()),
  "tasks.create": () => client.tasks.create({ input, kind: "video" }),
  "tasks.create of a URL": () => client.tasks.create({ input: "https://example.com/a.mp4", kind: "video" }),
  "steps.create": () => client.steps.create({ input, kind: "probe" }),
  "tasks.list": () => client.tasks.list(),
  "steps.list": () => client.steps.list(),
  "tasks.each": () => each(client.tasks.each()),
  "steps.each": () => each(client.steps.each()),
  events: () => each(client.watch(id)),
  wait: () => client.tasks.wait(id),
  output: () => client.output(id),
  waiting: () => client.waiting(id),
  resume: () => client.resume(id),
  usage: () => client.usage(),
  clear: () => client.clear(),
};
for (const [name, call] of Object.entries(calls)) {
  const thrown = await call().then(() => "resolved", (error) => error);
  console.log(name, thrown.name, thrown.kind, thrown.retryable, thrown.message);
}
createLocalClient({ core: { wasm: "/core.wasm" }, workers: "/workers/" });
await client.close();
`;

/** Adds the test of the local client in Node, in a project that has installed the package. */
export function testNode(project: () => string): void {
  test("in Node every call of the local client rejects and says why", async () => {
    await addFiles(project(), { "node.js": NODE });
    const printed = (await runIn(project(), process.execPath, ["node.js"])).trim().split("\n");
    const why =
      "MediaError service_unavailable false The local client runs in a page, and there is no Worker and no indexedDB here, " +
      "as on a server or in Node. Call it in the browser, or use createRemoteClient of framewright/client.";
    expect(printed).toHaveLength(28);
    expect(printed.filter((line) => !line.endsWith(` ${why}`))).toEqual([]);
  });
}
