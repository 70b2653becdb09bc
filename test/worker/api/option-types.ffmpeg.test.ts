import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OPTIONS } from "../../../src/media/options.ts";
import { writeOptionTypes } from "../../../worker/local/build/write-option-types.ts";
import { ROOT } from "../../structure/source-files.ts";
import type { Document } from "./document-shape.ts";
import { createMemoryApi } from "./memory-api.ts";

const FILE = join("src", "media", "option-types.ts");
const text = readFileSync(join(ROOT, FILE), "utf8");

test("the option types match the output of npm run docs:options", () => {
  const biome = join(ROOT, "node_modules", ".bin", "biome");
  const written = execFileSync(biome, ["check", "--write", "--stdin-file-path", FILE], {
    cwd: ROOT,
    input: writeOptionTypes(),
    encoding: "utf8",
  });
  expect(text).toBe(written);
});

test("an editor shows for every option what the OpenAPI document says", async () => {
  const { app } = createMemoryApi();
  const answer = await app.request("https://api.example/openapi.json");
  const { schemas } = ((await answer.json()) as Document).components;
  let count = 0;
  for (const schema of Object.values(OPTIONS)) {
    const name = schema.meta()?.id ?? "";
    const declared = text.split("\nexport type ").find((part) => part.startsWith(`${name} =`));
    const { properties = {} } = schemas[name] as { properties?: Record<string, Described> };
    for (const [option, { description = "", default: fallback }] of Object.entries(properties)) {
      expect(description, `${name}.${option}`).toMatch(/\.$/);
      const shown = new RegExp(`\\* ${escaped(description)}[^*]*\\*[^:]*\\n +${option}\\??:`);
      expect(declared).toMatch(shown);
      const [comment = ""] = shown.exec(declared ?? "") ?? [];
      if (fallback !== undefined && option !== "format")
        expect(comment).toContain(`@default ${JSON.stringify(fallback)}`);
      count++;
    }
  }
  expect(count).toBeGreaterThan(30);
});

interface Described {
  description?: string;
  default?: unknown;
}

function escaped(literal: string): string {
  return literal.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
