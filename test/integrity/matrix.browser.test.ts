import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientLab, openClientLab, openKit } from "../browser/client-rig.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { pickPart } from "../matrix/part.ts";
import { CHOSEN, everyCell, type IntegrityCell, optionsOf, WISHES } from "./cells.ts";
import { type ChunkedHost, openChunkedHost } from "./chunked-host.ts";
import { judgeOutput, recallOriginal, WHOLE } from "./judge.ts";
import { INTEGRITY_SOURCES, type IntegritySource } from "./sources.ts";

const part = process.env.FRAMEWRIGHT_MATRIX;
const CELLS = part ? pickPart(everyCell(), part) : CHOSEN;
const LIMIT = { timeout: 300_000 };

const folder = await mkdtemp(join(tmpdir(), "framewright-integrity-"));
afterAll(() => rm(folder, { recursive: true }));

const cellsOf = (...encoders: IntegrityCell["encoder"][]) =>
  CELLS.filter(({ encoder }) => encoders.includes(encoder)).map(
    (cell) => [`${cell.source} in ${cell.container} by ${cell.encoder}, ${cell.wish}`, cell] as const,
  );

const makeOf = ({ source, container }: IntegrityCell) =>
  (INTEGRITY_SOURCES[source] as IntegritySource).make(container);

/** Checks that the output `run` makes from a cell's source is faultless. */
async function expectWhole(cell: IntegrityCell, run: (source: string) => Promise<string>): Promise<void> {
  const source = await makeOf(cell);
  const output = await run(source);
  const original = await recallOriginal(source);
  const { held = false }: IntegritySource = INTEGRITY_SOURCES[cell.source];
  const { kind, span } = WISHES[cell.wish];
  expect(await judgeOutput(output, original, span, held && kind === "adaptive_video")).toEqual(WHOLE);
}

/** Writes the files of an output and resolves with the path of the first. */
async function save(files: readonly { name: string; bytes: Uint8Array }[]): Promise<string> {
  const home = await mkdtemp(join(folder, "out-"));
  for (const { name, bytes } of files) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), bytes);
  }
  return join(home, files[0]?.name ?? "");
}

let page: ClientLab;
beforeAll(async () => {
  page = await openClientLab();
});
afterAll(() => page?.close());

describe.for([
  // Cuts even the shortest source into three or more chunks.
  { encoder: "pool", options: { encoderWorkers: 4, prefer: "quality" } },
  { encoder: "webcodecs", options: { prefer: "speed" } },
] as const)("in a page with $encoder", ({ encoder, options }) => {
  beforeAll(() => openKit(page.lab.page, { name: "integrity", ...options }));
  afterAll(() => page.lab.page.evaluate(() => kit.client.close()));

  test.for(cellsOf(encoder))("%s", LIMIT, async ([, cell]) => {
    await expectWhole(cell, async (source) => {
      const { kind } = WISHES[cell.wish];
      const request = { path: await page.serve(source), kind, options: optionsOf(cell) };
      const files = await page.lab.page.evaluate(async ({ path, kind, options }) => {
        const { client, base64 } = kit;
        const input = await kit.file(path);
        const done = await client.tasks.wait(await client.tasks.create({ input, kind, options }));
        if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
        const output = await client.output(done);
        const main = output.source.url.split("/").at(-1);
        const files = output.files.toSorted((a, b) => Number(b.name === main) - Number(a.name === main));
        const read = files.map(async ({ name, file }) => ({ name, base64: await base64(file) }));
        const result = await Promise.all(read);
        await client.tasks.delete(done.id);
        return result;
      }, request);
      return save(files.map(({ name, base64 }) => ({ name, bytes: Buffer.from(base64, "base64") })));
    });
  });
});

describe("in the service", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig?.close());

  test.for(cellsOf("light", "native"))("%s", LIMIT, async ([, cell]) => {
    await expectWhole(cell, async (source) => {
      const { kind } = WISHES[cell.wish];
      const { task, path } = await rig.door.encode({
        ...{ input: rig.serve(source), kind },
        options: optionsOf(cell),
      });
      return kind === "adaptive_video" ? (task.output ?? "") : path;
    });
  });
});

describe("in a host with short chunks", () => {
  let host: ChunkedHost;
  beforeAll(async () => {
    host = await openChunkedHost();
  });
  afterAll(() => host?.close());

  test.for(cellsOf("light in chunks", "native in chunks"))("%s", LIMIT, async ([, cell]) => {
    await expectWhole(cell, async (source) => {
      const encoder = cell.encoder === "light in chunks" ? "light" : "native";
      const { task, bytes } = await host.run(source, WISHES[cell.wish], { encoder, chunk_seconds: 3 });
      expect(task.error).toBeNull();
      return save([{ name: "output.mp4", bytes: bytes ?? new Uint8Array() }]);
    });
  });
});
