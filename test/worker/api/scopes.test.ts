import { beforeAll, expect, test } from "vitest";
import { type NewApiKey, SCOPES, type Scope } from "../../../src/runs/key.ts";
import { createMemoryApi } from "./memory-api.ts";

interface Operation {
  operationId: string;
  security: { api_key: Scope[] }[];
  requestBody?: { content: { "application/json": { examples: Record<string, { value: unknown }> } } };
}

const { app, tasks, steps } = createMemoryApi();
const MINE = "good-key";
const secrets: Partial<Record<Scope | "all" | "theirs", string>> = {};
const createdIds: Record<string, string> = {};
let operations: { method: string; path: string; operation: Operation }[];

async function ask(method: string, path: string, key: string | null, body?: unknown) {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (key !== null) headers.Authorization = `Bearer ${key}`;
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await app.request(path, init);
  const text = await response.text();
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  const answer = isJson && text !== "" ? JSON.parse(text) : {};
  return { status: response.status, answer, challenge: response.headers.get("WWW-Authenticate") };
}

async function makeKey(key: string, scopes: Scope[]): Promise<NewApiKey> {
  return (await ask("POST", "/keys", key, { name: scopes.join(), scopes })).answer;
}

beforeAll(async () => {
  const document = (await (await app.request("/openapi.json")).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  for (const scope of SCOPES) secrets[scope] = (await makeKey(MINE, [scope])).secret ?? "";
  secrets.all = (await makeKey(MINE, [...SCOPES])).secret ?? "";
  secrets.theirs = (await makeKey("other-key", [...SCOPES])).secret ?? "";
  // One record of each type, in the first project.
  for (const { method, path, operation } of operations) {
    if (method !== "POST" || path.includes("{")) continue;
    const example = Object.values(operation.requestBody?.content["application/json"].examples ?? {})[0];
    const { status, answer } = await ask(method, path, MINE, example?.value);
    if (status === 201) createdIds[path] = answer.id;
  }
});

/** The operations that need a key, on an existing record and with a valid body. */
function guarded() {
  return operations
    .filter(({ operation }) => operation.security.length > 0)
    .map(({ method, path, operation }) => ({
      method,
      path: path.replace("{id}", createdIds[path.split("/{id}")[0] ?? ""] ?? "x"),
      template: path,
      scope: operation.security[0]?.api_key[0] as Scope,
      body: Object.values(operation.requestBody?.content["application/json"].examples ?? {})[0]?.value,
    }));
}

/** Everything that the lists of the first project show. */
async function everything(): Promise<string> {
  const reads = guarded().filter(({ method, template }) => method === "GET" && !template.includes("{"));
  const answers = await Promise.all(reads.map(({ path }) => ask("GET", path, MINE)));
  const text = JSON.stringify(answers.filter(({ answer }) => Array.isArray(answer)));
  return text.replaceAll(/"last_used_at":(\d+|null)/g, "");
}

test("the operations cover tasks, steps, connections, keys and every scope", () => {
  expect(Object.keys(createdIds)).toEqual(
    expect.arrayContaining(["/tasks", "/steps", "/connections", "/keys"]),
  );
  expect(new Set(guarded().map(({ scope }) => scope))).toEqual(new Set(SCOPES));
  expect(guarded().length).toBeGreaterThan(25);
});

// Operations that need more than read for GET, or more than write for changes.
const SPECIAL: Readonly<Record<string, Scope>> = {
  "POST /connections": "connections.manage",
  "PATCH /connections/{id}": "connections.manage",
  "DELETE /connections/{id}": "connections.manage",
  "POST /connections/reencrypt": "connections.manage",
  "POST /connections/{id}/sign": "connections.sign",
  "GET /metrics": "admin",
  "GET /keys": "admin",
  "POST /keys": "admin",
  "GET /keys/{id}": "admin",
  "DELETE /keys/{id}": "admin",
  "POST /keys/{id}/roll": "admin",
};

test("GET needs read, changes need write; keys, metrics and connections need more", () => {
  const special = new Set<string>();
  for (const { method, template, scope } of guarded()) {
    const name = `${method} ${template}`;
    if (SPECIAL[name]) special.add(name);
    expect([name, scope]).toEqual([name, SPECIAL[name] ?? (method === "GET" ? "read" : "write")]);
  }
  expect(special.size).toBe(Object.keys(SPECIAL).length);
});

test("every operation rejects a missing or wrong key and changes nothing", async () => {
  const before = await everything();
  for (const { method, path, body } of guarded()) {
    expect(await ask(method, path, null, body)).toMatchObject({
      status: 401,
      answer: { kind: "token_missing" },
      challenge: 'Bearer realm="framewright"',
    });
    for (const wrong of ["bad-key", `${secrets.admin}x`, "fw_live_0", " ", "key_"]) {
      const { status, answer, challenge } = await ask(method, path, wrong, body);
      expect([path, status, answer.kind]).toEqual([path, 401, "token_invalid"]);
      expect(challenge).toBe('Bearer realm="framewright", error="invalid_token"');
    }
  }
  expect(await everything()).toBe(before);
});

test.each(SCOPES)("a key with only the scope %s can do nothing else", async (scope) => {
  const before = await everything();
  for (const each of guarded().filter((operation) => operation.scope !== scope)) {
    const { status, answer, challenge } = await ask(each.method, each.path, secrets[scope] ?? "", each.body);
    expect([each.path, status, answer.kind]).toEqual([each.path, 403, "forbidden"]);
    expect(answer.message).toBe(`The key lacks the scope ${each.scope}, which this needs.`);
    expect(challenge).toBe(`Bearer realm="framewright", error="insufficient_scope", scope="${each.scope}"`);
  }
  expect(await everything()).toBe(before);
});

test("HEAD needs the scope of GET", async () => {
  const status = async (path: string, key: string | undefined) => (await ask("HEAD", path, key ?? "")).status;
  expect([await status("/tasks", secrets.read), await status("/tasks", secrets.write)]).toEqual([200, 403]);
  expect([await status("/keys", secrets.admin), await status("/keys", secrets.read)]).toEqual([200, 403]);
});

test("another project's key with every scope finds no record of the first", async () => {
  const before = await everything();
  for (const { method, path, template, body } of guarded()) {
    const { status, answer } = await ask(method, path, secrets.theirs ?? "", body);
    if (template.includes("{id}")) expect([template, path, status]).toEqual([template, path, 404]);
    else for (const id of Object.values(createdIds)) expect(JSON.stringify(answer)).not.toContain(id);
  }
  expect(await everything()).toBe(before);
});

test("a key may do what its scope allows", async () => {
  for (const { method, path, template, scope, body } of guarded()) {
    // This would contact the storage of the example.
    if (template.endsWith("/test")) continue;
    // A key passes on only scopes that it has itself.
    const secret = template.startsWith("/keys") ? secrets.all : secrets[scope];
    const { status } = await ask(method, path, secret ?? "", body);
    expect([template, [401, 403, 429].includes(status)]).toEqual([template, false]);
  }
  expect([tasks.find(createdIds["/tasks"] ?? ""), steps.find(createdIds["/steps"] ?? "")]).not.toEqual([
    null,
    null,
  ]);
});
