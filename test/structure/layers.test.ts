import { posix } from "node:path";
import { expect, test } from "vitest";
import { findWrongImports, importsOf } from "./layers.ts";
import { readSources } from "./source-files.ts";

test("every import respects the layers", () => {
  const files = readSources("src", "worker", "web", "bench", "test");
  expect(files.length).toBeGreaterThan(50);
  expect(findWrongImports(files)).toEqual([]);
});

test.for([
  ["src/media/errors.ts", 'import type { Task } from "../runs/task.ts";'],
  ["src/runs/task.ts", 'import { Hono } from "hono";'],
  ["src/util/bytes.ts", 'import { MediaError } from "../media/errors.ts";'],
  ["src/util/bytes.ts", 'import { z } from "zod";'],
  ["src/media/rates.ts", 'import { readFileSync } from "node:fs";'],
  ["src/media/rates.ts", 'import type { Storage } from "../storage/storage.ts";'],
  ["src/storage/http.ts", 'import { wasm } from "../encoders/wasm-core.ts";'],
  ["src/encoders/light.ts", 'export { app } from "../../worker/app.ts";'],
  ["src/encoders/light.ts", 'const later = await import("../client/remote.ts");'],
  ["src/stores/kv.ts", 'export type Given = import("../../worker/env.ts").Env;'],
  ["src/browser/local.ts", 'export * from "../../test/fixtures/clips.ts";'],
  ["src/stores/kv.ts", 'import { DurableObject } from "cloudflare:workers";'],
  ["src/unheard-of/new.ts", 'import { z } from "zod";'],
  ["worker/app.ts", 'import { startService } from "./local/service.ts";'],
  ["worker/api/tasks.ts", 'import { createServer } from "node:http";'],
  ["worker/encoder/index.ts", 'import { createApp } from "../app.ts";'],
  ["web/page.ts", 'import { createTask } from "../src/runs/task.ts";'],
])("finds a forbidden import: %s with %s", ([path, text]) => {
  expect(findWrongImports([{ path: path ?? "", text: text ?? "" }])).toHaveLength(1);
});

test.for(["src/runs/task.ts", "src/webhooks/verify.ts", "worker/api/tasks.ts", "web/page.ts"])(
  "%s may import src/util",
  (path) => {
    const name = posix.relative(posix.dirname(path), "src/util/bytes.ts");
    expect(findWrongImports([{ path, text: `import { MIB } from "${name}";` }])).toEqual([]);
  },
);

test("reads every form of import, but not comments or strings", () => {
  const text = `
    // import "./no.ts";
    /* export * from "./no.ts"; */
    import "./a.ts";
    import type { B } from "./b.ts";
    export { c } from "./c.ts";
    export * as d from "./d.ts";
    const e = await import("./e.ts");
    let f: import("./f.ts").F;
    const no = 'import "./no.ts"';`;
  expect(importsOf({ path: "x.ts", text }).sort()).toEqual(
    ["a", "b", "c", "d", "e", "f"].map((name) => `./${name}.ts`),
  );
});
