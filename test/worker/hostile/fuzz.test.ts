import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { REQUEST_ERROR_KINDS } from "../../../src/media/errors.ts";
import { WORK_ERROR_KINDS } from "../../../worker/http/errors.ts";
import { createMemoryApi, KEY } from "../api/memory-api.ts";
import { drawBody, drawBytes, type Recipe, type Schema } from "./bodies.ts";
import { NASTY } from "./nasty.ts";
import { createDraw } from "./random.ts";

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}
interface Operation {
  requestBody?: {
    content: Record<string, { schema: Schema; examples?: Record<string, { value: unknown }> }>;
  };
}

const REQUESTS = 2000;
const SEED = 20_251_121;
const TRACE = /\n\s+at |\.[jt]s:\d+|node_modules|Error:|SQLITE/;

// Storage denies every outgoing request.
const network = {
  fetch: async () => new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }),
};
const { app } = createMemoryApi({}, { network });
const written = vi.spyOn(console, "error").mockImplementation(() => {});
afterAll(() => written.mockRestore());

let routes: { method: string; path: string; recipe: Recipe | null }[];

beforeAll(async () => {
  const { paths, components } = (await (await app.request("/openapi.json")).json()) as Document;
  routes = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { requestBody }]) => {
      if (method !== "post" && method !== "patch") return [];
      const media = requestBody?.content["application/json"];
      const examples = Object.values(media?.examples ?? {}).map(({ value }) => value);
      const recipe = media ? { schema: media.schema, schemas: components.schemas, examples } : null;
      return [{ method: method.toUpperCase(), path, recipe }];
    }),
  );
});

test(`${REQUESTS} generated bodies succeed or get a documented error, never a server fault`, async () => {
  const draw = createDraw(SEED);
  const ids = new Map<string, string[]>();
  const statuses = new Map<string, Set<number>>();
  for (let count = 0; count < REQUESTS; count++) {
    const { method, path, recipe } = routes[count % routes.length] as (typeof routes)[number];
    const created = ids.get(path.split("/{")[0] ?? "") ?? [];
    const id =
      created.length > 0 && draw.share() < 0.8
        ? draw.one(created)
        : encodeURIComponent(oddId(draw.one(NASTY)));
    const at = path.replace("{id}", id);
    const headers: Record<string, string> = { ...KEY };
    if (recipe || draw.share() < 0.1) headers["Content-Type"] = "application/json";
    if (draw.share() < 0.1) headers["Idempotency-Key"] = `key-${draw.below(20)}`;
    const bytes = drawBytes(recipe ? drawBody(recipe, draw) : {}, draw);
    const response = await app.request(at, { method, headers, body: bytes });
    const text = await response.text();
    const shown = `${count}: ${method} ${at} ${new TextDecoder().decode(bytes).slice(0, 500)} -> ${response.status} ${text.slice(0, 500)}`;
    expect(response.status, shown).toBeLessThan(500);
    expect(text, shown).not.toMatch(TRACE);
    expect(response.headers.get("Request-Id"), shown).toMatch(/^req_\w+$/);
    if (response.status === 204) continue;
    expect(response.headers.get("Content-Type"), shown).toBe("application/json");
    const answer = JSON.parse(text);
    const name = `${method} ${path}`;
    statuses.set(name, (statuses.get(name) ?? new Set()).add(response.status));
    if (response.status < 300) {
      if (response.status === 201 && typeof answer.id === "string")
        ids.set(path, [...(ids.get(path) ?? []), answer.id]);
      continue;
    }
    expect([...REQUEST_ERROR_KINDS, ...(WORKING.has(path) ? WORK_ERROR_KINDS : [])], shown).toContain(
      answer.kind,
    );
    expect(
      Object.keys(answer).filter((key) => !["param", "reason"].includes(key)),
      shown,
    ).toEqual(["kind", "message", "request_id"]);
    expect(answer.message.length, shown).toBeLessThan(1000);
  }
  // Some bodies get past validation, and some are rejected by it.
  for (const { method, path, recipe } of routes) {
    const seen = statuses.get(`${method} ${path}`);
    if (recipe) expect(seen, path).toContain(400);
    if (recipe && !path.includes("{"))
      expect(
        [...(seen ?? [])].some((status) => status < 300),
        path,
      ).toBe(true);
  }
  expect([...statuses.keys()].toSorted()).toEqual(
    routes.map((each) => `${each.method} ${each.path}`).toSorted(),
  );
  expect(written.mock.calls).toEqual([]);
});

// For these paths, the document also lists the errors of the work.
const WORKING: ReadonlySet<string> = new Set(["/estimates", "/previews"]);

// Replaces the texts that cannot be a path segment: the empty one and a lone surrogate.
function oddId(text: string): string {
  return text === "" || text.includes("\ud800") ? "odd" : text;
}
