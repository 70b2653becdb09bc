import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostOrder } from "../../worker/local/host.ts";
import { openState, type State } from "../../worker/local/state.ts";
import { createHost, type Host } from "../../worker/local/supervisor.ts";
import { registryOf, workerProgram } from "../../worker/local/worker-program.ts";
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

test("keeps no bytes but those of its objects", async () => {
  const files = async (top: string) => {
    const found = await readdir(join(folder, "media", top), { recursive: true, withFileTypes: true });
    return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  };
  const entries = await Promise.all((await files("keys")).map((path) => readFile(path, "utf8")));
  const named = entries.flatMap((text) => (JSON.parse(text) as { files: { path: string }[] }).files);
  expect(named.length).toBeGreaterThan(5);
  expect((await files("bytes")).toSorted()).toEqual(
    named.map(({ path }) => join(folder, "media", path)).toSorted(),
  );
});
