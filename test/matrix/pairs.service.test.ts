import { rm } from "node:fs/promises";
import { afterAll, beforeAll, test } from "vitest";
import { note } from "../judge/figures.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { allCells, MATRIX_KINDS, optionsOf, pairCells, rateCells } from "./cells.ts";
import { judgeCell, mimeOf, playStream, sourceOf } from "./judge-cell.ts";
import { pickPart } from "./part.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

// Every pair of option values; with FRAMEWRIGHT_MATRIX the whole product or a part of it.
const part = process.env.FRAMEWRIGHT_MATRIX;
const CELLS = part
  ? pickPart(
      MATRIX_KINDS.flatMap((kind) => [...allCells(kind)]),
      part,
    )
  : [...MATRIX_KINDS.flatMap(pairCells), ...rateCells()];

const NAMED = CELLS.map((cell) => [cell.name, cell] as const);

test.concurrent.for(NAMED)("%s", { timeout: 300_000 }, async ([, cell], { expect, task }) => {
  const original = await sourceOf(cell);
  const input = rig.serve(original);
  const output = await rig.door.encode({ input, kind: cell.kind, options: optionsOf(cell) });
  expect(output.task.steps[2]?.output).toMatchObject({ encoder: cell.engine });
  expect(output.mime).toBe(mimeOf(cell));
  const { path } = output;
  const file =
    cell.kind === "adaptive_video" ? await playStream(cell, output.task.output ?? "", path, expect) : path;
  note(task, await judgeCell(cell, file, original, expect));
  await Promise.all([...new Set([path, file])].map((each) => rm(each)));
});
