import { createRemoteClient } from "../../src/client/remote.ts";
import { deepEqual, equal, ok, rejects } from "../browser/assert.ts";
import { type Cases, casesOf } from "../browser/cases.ts";
import { CLIENT_CONTRACT, type ClientCase } from "./contract.ts";

// The query of this module's URL holds the service's URL and key, and the URLs of the inputs.
const setup: { url: string; key: string; inputs: ClientCase["inputs"] } = JSON.parse(
  atob(new URL(import.meta.url).searchParams.get("setup") ?? ""),
);
const { url, key, inputs } = setup;
const create = (): ClientCase => ({
  client: createRemoteClient({ baseUrl: url, apiKey: key, poll: { firstMs: 20, maxMs: 200 } }),
  inputs,
});

/** Makes a small picture, and a file in OPFS to save it to. */
async function makeImage() {
  const { client, inputs } = create();
  const request = { input: inputs.video, kind: "image", options: { format: "png", width: 80 } } as const;
  const task = await client.tasks.wait(await client.tasks.create(request));
  const folder = await navigator.storage.getDirectory();
  const handle = await folder.getFileHandle("saved.png", { create: true });
  return { client, task, handle, output: await client.output(task) };
}

/** The client contract on the remote client in a page of another origin, and cases that need a page. */
export const CASES: Cases = {
  ...casesOf(CLIENT_CONTRACT, create),

  async "saves an output to a file"() {
    const { output, handle } = await makeImage();
    await output.saveTo(handle);
    const saved = await handle.getFile();
    equal(saved.size, output.source.filesize);
    const [is, was] = await Promise.all([saved.bytes(), (await output.blob()).bytes()]);
    deepEqual([...is], [...was]);
  },

  async "sends a file in parts, and reports progress within parts"() {
    const client = createRemoteClient({ baseUrl: url, apiKey: key });
    const file = new File([new Uint8Array(17 * 2 ** 20)], "zeros.bin", { type: "application/octet-stream" });
    const progress: number[] = [];
    const upload = await client.uploads.send(file, {
      onProgress(sent, size) {
        equal(size, file.size);
        progress.push(sent);
      },
    });
    deepEqual([upload.status, upload.name, upload.size], ["stored", "zeros.bin", file.size]);
    deepEqual(await client.uploads.get(upload.id), upload);
    // More than once per part.
    ok(progress.length > 3, `progress was ${progress}`);
    deepEqual(
      progress,
      [...progress].sort((a, b) => a - b),
    );
    equal(progress.at(-1), file.size);
    await client.uploads.delete(upload.id);
    await rejects(client.uploads.get(upload.id), { kind: "media_not_found" });
    const stop = new AbortController();
    const reason = new Error("the visitor left");
    const stopped = client.uploads.send(file, { signal: stop.signal, onProgress: () => stop.abort(reason) });
    equal(await stopped.catch((error: unknown) => error), reason);
  },

  async "keeps the file's content when the output is gone"() {
    const { client, task, output, handle } = await makeImage();
    await output.saveTo(handle);
    await client.tasks.delete(task.id);
    await rejects(output.saveTo(handle), { kind: "media_not_found" });
    equal((await handle.getFile()).size, output.source.filesize);
  },

  async "rejects when there is no room for the file"() {
    const { output, handle } = await makeImage();
    await rejects(output.saveTo(handle), { kind: "storage_full" });
  },

  async "reports a throwing listener's error, and still notifies the others"() {
    const { client, inputs } = create();
    const task = await client.tasks.create({ input: inputs.silent, kind: "video" });
    const thrown: string[] = [];
    const collect = (event: ErrorEvent) => {
      event.preventDefault();
      thrown.push(event.error.message);
    };
    addEventListener("error", collect);
    client.on(task, "update", () => {
      throw new Error("a bug of the page");
    });
    const statuses: string[] = [];
    client.on(task, "update", ({ record }) => statuses.push(record.status));
    const cancelled = await client.tasks.cancel(task.id);
    deepEqual(await client.tasks.wait(task), cancelled);
    removeEventListener("error", collect);
    equal(statuses.at(-1), "cancelled");
    deepEqual(thrown, Array(statuses.length).fill("a bug of the page"));
  },

  async "loads an output into an image element"() {
    const { output } = await makeImage();
    const image = new Image();
    image.src = await output.url();
    await image.decode();
    ok(image.naturalWidth === 80, `it is ${image.naturalWidth} wide`);
  },
};
