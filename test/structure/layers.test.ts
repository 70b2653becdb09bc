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
  { path: "src/media/errors.ts", text: 'import type { Task } from "../runs/task.ts";' },
  { path: "src/runs/task.ts", text: 'import { Hono } from "hono";' },
  { path: "src/util/bytes.ts", text: 'import { MediaError } from "../media/errors.ts";' },
  { path: "src/util/bytes.ts", text: 'import { z } from "zod";' },
  { path: "src/media/rates.ts", text: 'import { readFileSync } from "node:fs";' },
  { path: "src/media/rates.ts", text: 'import type { Storage } from "../storage/storage.ts";' },
  { path: "src/storage/http.ts", text: 'import { wasm } from "../encoders/wasm-core.ts";' },
  { path: "src/encoders/light.ts", text: 'export { app } from "../../worker/app.ts";' },
  { path: "src/encoders/light.ts", text: 'const later = await import("../client/remote.ts");' },
  { path: "src/stores/kv.ts", text: 'export type Given = import("../../worker/env.ts").Env;' },
  { path: "src/browser/local.ts", text: 'export * from "../../test/fixtures/clips.ts";' },
  { path: "src/stores/kv.ts", text: 'import { DurableObject } from "cloudflare:workers";' },
  { path: "src/unheard-of/new.ts", text: 'import { z } from "zod";' },
  { path: "worker/app.ts", text: 'import { startService } from "./local/service.ts";' },
  { path: "worker/api/tasks.ts", text: 'import { createServer } from "node:http";' },
  { path: "worker/encoder/index.ts", text: 'import { createApp } from "../app.ts";' },
  { path: "web/page.ts", text: 'import { createTask } from "../src/runs/task.ts";' },
])("finds a forbidden import: $path with $text", ({ path, text }) => {
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
