import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiKey, NewApiKey } from "../../../src/runs/key.ts";
import { startService } from "./service.ts";

const OWNER = "key-of-the-owner";
const OTHER = "key-of-another-project";
const ROUNDS = 12;

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService(`shop:${OWNER},other:${OTHER}`, { MAX_KEYS: "8" });
});
afterAll(() => service?.close());

async function ask<T>(method: string, path: string, key: string, body?: object) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(service.base + path, init);
  const text = await response.text();
  return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as T };
}

const create = async (name: string) =>
  (await ask<NewApiKey>("POST", "/keys", OWNER, { name, scopes: ["read", "admin"] })).body;
const status = async (secret: string) => (await ask("GET", "/tasks", secret)).status;

/** Rolls a key by its own secrets, several at a time, until the service refuses; returns all secrets that it was given. */
async function attack({ id, secret = "" }: NewApiKey, begun: () => void): Promise<string[]> {
  const secrets = [secret];
  const rollOn = async (from: string) => {
    for (let own = from; ; ) {
      const rolled = await ask<NewApiKey>("POST", `/keys/${id}/roll`, own, { keep_seconds: 604_800 });
      if (rolled.status !== 200) return rolled.status;
      own = rolled.body.secret ?? "";
      secrets.push(own);
      begun();
    }
  };
  const ends = await Promise.all([secret, secret, secret].map(rollOn));
  for (const end of ends) expect([401, 404]).toContain(end);
  return secrets;
}

test("whoever rolls a stolen key while its owner revokes it is left with no secret that works", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const key = await create(`round ${round}`);
    let rolls = 0;
    const attacked = new Promise<string[]>((resolve, reject) => {
      const going = new Promise<void>((begun) => {
        // The revocation comes before the first roll, or after ever more of them.
        if (round === 0) begun();
        attack(key, () => ++rolls >= round && begun()).then(resolve, reject);
      });
      going
        .then(async () => {
          expect(await ask("DELETE", `/keys/${key.id}`, OWNER)).toEqual({ status: 204, body: null });
        })
        .catch(reject);
    });
    const secrets = await attacked;
    expect(secrets.length).toBeGreaterThan(round === 0 ? 0 : round);
    const after = await Promise.all(secrets.map(status));
    expect([round, ...new Set(after)]).toEqual([round, 401]);
  }
  expect((await ask<ApiKey[]>("GET", "/keys", OWNER)).body).toEqual([]);
});

test("of rolls and revocations all at once, the revocation wins", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { id, secret = "" } = await create(`round ${round}`);
    const roll = () => ask<NewApiKey>("POST", `/keys/${id}/roll`, secret, { keep_seconds: 60 });
    const ownRoll = () => ask<NewApiKey>("POST", `/keys/${id}/roll`, OWNER, { keep_seconds: 0 });
    const revoke = () => ask<NewApiKey>("DELETE", `/keys/${id}`, OWNER);
    const calls = [roll, roll, ownRoll, roll, roll, ownRoll, roll];
    calls.splice(round % (calls.length + 1), 0, revoke);
    const answers = await Promise.all(calls.map((call) => call()));
    const secrets = [secret, ...answers.flatMap(({ body }) => body?.secret ?? [])];
    expect(await Promise.all(secrets.map(status))).toEqual(secrets.map(() => 401));
    expect(await ask("GET", `/keys/${id}`, OWNER)).toMatchObject({ status: 404 });
  }
});

test("a key that is revoked while it makes others is left with none made after it", async () => {
  const { id, secret = "" } = await create("maker");
  const make = () => ask<NewApiKey>("POST", "/keys", secret, { name: "made", scopes: ["read"] });
  const [first, revoked, ...rest] = await Promise.all([
    make(),
    ask("DELETE", `/keys/${id}`, OWNER),
    make(),
    make(),
  ]);
  expect(revoked?.status).toBe(204);
  for (const { status: creation } of [first, ...rest]) expect([201, 401]).toContain(creation);
  expect((await make()).status).toBe(401);
  for (const { id: remaining } of (await ask<ApiKey[]>("GET", "/keys", OWNER)).body)
    await ask("DELETE", `/keys/${remaining}`, OWNER);
});

test("a minted key never has a scope that its maker lacks, and is of its maker's project", async () => {
  const { id, secret = "" } = await create("maker");
  const mint = (scopes: string[], by = secret) =>
    ask<NewApiKey>("POST", "/keys", by, { name: "made", scopes });
  for (const scopes of [["write"], ["read", "connections.manage"], ["connections.sign"]])
    expect(await mint(scopes)).toMatchObject({ status: 403, body: { kind: "forbidden" } });
  const { status: creation, body: minted } = await mint(["read", "admin"]);
  expect([creation, minted.scopes]).toEqual([201, ["read", "admin"]]);
  expect((await mint(["write"], minted.secret)).status).toBe(403);
  const ids = (await ask<ApiKey[]>("GET", "/keys", minted.secret ?? "")).body.map((key) => key.id);
  expect(ids.toSorted()).toEqual([id, minted.id].toSorted());
  const foreign = await ask<NewApiKey>("POST", `/keys/${minted.id}/roll`, OTHER, {});
  expect([foreign.status, (await ask<ApiKey[]>("GET", "/keys", OTHER)).body]).toEqual([404, []]);
  for (const each of ids) await ask("DELETE", `/keys/${each}`, OWNER);
});

test("simultaneous requests make no more keys than a project may have", async () => {
  const make = () => ask<NewApiKey>("POST", "/keys", OWNER, { name: "one of many" });
  const answers = await Promise.all(Array.from({ length: 12 }, make));
  const statuses = answers.map((each) => each.status).sort();
  expect(statuses).toEqual([...Array(8).fill(201), ...Array(4).fill(403)]);
  const secrets = answers.flatMap(({ body }) => body.secret ?? []);
  expect(await Promise.all(secrets.map(status))).toEqual(Array(8).fill(200));
});
