import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostOrder } from "../../worker/local/host.ts";
import { diskBinding } from "../../worker/local/host-bindings.ts";
import { registryOf, workerProgram } from "../../worker/local/programs.ts";
import { openState, type State } from "../../worker/local/state.ts";
import { createHost, type Host } from "../../worker/local/supervisor.ts";
import { STORAGE_CONTRACT } from "./contract.ts";

const NAME = "framewright-test-contracts";
let folder: string;
let state: State;
let host: Host<HostOrder>;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-disk-"));
  state = await openState(folder);
  host = createHost(workerProgram(NAME, state), state, (line) => console.error(line));
  url = await host.start({
    config: join(import.meta.dirname, "workerd/wrangler.toml"),
    ...{ data: join(folder, "data"), media: join(folder, "media"), registry: registryOf(state) },
    ...{ port: 0, watch: false, assets: null, dns: null, vars: {}, secrets: {} },
  });
});
afterAll(async () => {
  await host?.end();
  state?.release();
  await rm(folder, { recursive: true, force: true });
});

test.for(STORAGE_CONTRACT)("a directory in workerd $name", async ({ name }) => {
  const response = await fetch(`${url}/storage?${new URLSearchParams({ name })}`);
  expect(await response.text()).toBe("kept");
});

async function files(top: string): Promise<string[]> {
  const entries = await readdir(join(folder, "media", top), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

async function namedFiles(): Promise<string[]> {
  const entries = await Promise.all((await files("keys")).map((path) => readFile(path, "utf8")));
  return entries.flatMap((text) =>
    (JSON.parse(text) as { files: { path: string }[] }).files.map(({ path }) => path),
  );
}

test("stores no bytes except those of its objects", async () => {
  const named = await namedFiles();
  expect(named.length).toBeGreaterThan(5);
  expect((await files("bytes")).toSorted()).toEqual(
    named.map((path) => join(folder, "media", path)).toSorted(),
  );
});

test("completing an upload again after its response was lost keeps its bytes", async () => {
  expect(await (await fetch(`${url}/complete-twice`)).text()).toBe("whole");
});

test("clears the files of a killed write", async () => {
  // A write ends with its entry, and a part that was sent twice is in the upload's folder twice.
  const [part] = (await namedFiles()).filter((path) => /~\/[^/]+\/[^/]+$/.test(path));
  expect(part).toBeDefined();
  const twice = join(folder, "media", dirname(part ?? ""), `1-${randomUUID()}`);
  await writeFile(twice, "twice");
  const half = join(folder, "media/bytes/out/killed/a.b~", randomUUID());
  await mkdir(dirname(half), { recursive: true });
  await writeFile(half, "half");
  const others = (await namedFiles()).map((path) => path.split("/")[1]?.replace(/~$/, "") ?? "");
  for (const prefix of ["out/killed/", ...new Set(others)]) {
    expect(await (await fetch(`${url}/clear?${new URLSearchParams({ prefix })}`)).text()).toBe("cleared");
    expect(existsSync(half)).toBe(false);
  }
  expect(await files("bytes")).toEqual([]);
});

test("a start removes the files that killed processes were writing, and no others", async () => {
  const media = join(folder, "left");
  const names = [".a.mp4~.4194305.12.tmp", `.b.mp4~.${process.pid}.12.tmp`, "c.mp4~"];
  await mkdir(join(media, "keys/out"), { recursive: true });
  for (const name of names) await writeFile(join(media, "keys/out", name), "{}");
  diskBinding(media);
  expect((await readdir(join(media, "keys/out"))).toSorted()).toEqual(names.slice(1).toSorted());
});
