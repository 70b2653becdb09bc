import { createRemoteClient } from "../../src/client/remote/remote.ts";
import { deepEqual, equal, ok, rejects } from "../browser/assert.ts";
import { type Cases, casesOf } from "../browser/cases.ts";
import { CLIENT_CONTRACT, type ClientCase } from "./contract.ts";

// Where the service and the inputs are stands in the query of this module.
const given: { url: string; key: string; inputs: ClientCase["inputs"] } = JSON.parse(
  atob(new URL(import.meta.url).searchParams.get("given") ?? ""),
);
const { url, key, inputs } = given;
const create = (): ClientCase => ({
  client: createRemoteClient({ baseUrl: url, apiKey: key, poll: { firstMs: 20, maxMs: 200 } }),
  inputs,
});

/** Makes a small picture and a file in the page's own store to save it to. */
async function makeImage() {
  const { client, inputs } = create();
  const request = { input: inputs.video, kind: "image", options: { format: "png", width: 80 } } as const;
  const task = await client.tasks.wait(await client.tasks.create(request));
  const folder = await navigator.storage.getDirectory();
  const handle = await folder.getFileHandle("saved.png", { create: true });
  return { client, task, handle, output: await client.output(task) };
}

/** The contract of clients on the remote client in a page of another origin than the service, and the saving of files. */
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

  async "sends a file in parts, and tells how far it is while they go"() {
    const client = createRemoteClient({ baseUrl: url, apiKey: key });
    const file = new File([new Uint8Array(17 * 2 ** 20)], "zeros.bin", { type: "application/octet-stream" });
    const told: number[] = [];
    const upload = await client.uploads.send(file, {
      onProgress(sent, size) {
        equal(size, file.size);
        told.push(sent);
      },
    });
    deepEqual([upload.status, upload.name, upload.size], ["stored", "zeros.bin", file.size]);
    deepEqual(await client.uploads.get(upload.id), upload);
    // More often than once a part.
    ok(told.length > 3, `it told ${told}`);
    deepEqual(
      told,
      [...told].sort((a, b) => a - b),
    );
    equal(told.at(-1), file.size);
    await client.uploads.delete(upload.id);
    await rejects(client.uploads.get(upload.id), { kind: "media_not_found" });
    const stop = new AbortController();
    const gone = new Error("the visitor left");
    const stopped = client.uploads.send(file, { signal: stop.signal, onProgress: () => stop.abort(gone) });
    equal(await stopped.catch((error: unknown) => error), gone);
  },

  async "keeps what was in the file when the output is gone"() {
    const { client, task, output, handle } = await makeImage();
    await output.saveTo(handle);
    await client.tasks.delete(task.id);
    await rejects(output.saveTo(handle), { kind: "media_not_found" });
    equal((await handle.getFile()).size, output.source.filesize);
  },

  async "says when there is no room for the file"() {
    const { output, handle } = await makeImage();
    await rejects(output.saveTo(handle), { kind: "storage_full" });
  },

  async "lets a listener throw without harm to the others"() {
    const { client, inputs } = create();
    const task = await client.tasks.create({ input: inputs.silent, kind: "video" });
    const thrown: string[] = [];
    const heard = (event: ErrorEvent) => {
      event.preventDefault();
      thrown.push(event.error.message);
    };
    addEventListener("error", heard);
    client.on(task, "update", () => {
      throw new Error("a fault of the page");
    });
    const seen: string[] = [];
    client.on(task, "update", ({ record }) => seen.push(record.status));
    const cancelled = await client.tasks.cancel(task.id);
    deepEqual(await client.tasks.wait(task), cancelled);
    removeEventListener("error", heard);
    equal(seen.at(-1), "cancelled");
    deepEqual(thrown, Array(seen.length).fill("a fault of the page"));
  },

  async "shows an output in an element of the page"() {
    const { output } = await makeImage();
    const image = new Image();
    image.src = await output.url();
    await image.decode();
    ok(image.naturalWidth === 80, `it is ${image.naturalWidth} wide`);
  },
};
