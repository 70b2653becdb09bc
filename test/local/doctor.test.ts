import { afterAll, beforeAll, expect, test } from "vitest";
import { openRig, type Rig } from "../judge/rig.ts";
import { runScript } from "./run-script.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

test("names what an account lacks, and exits with 1", async () => {
  // No account is at hand; the checks end where the login is missing.
  const doctor = runScript("doctor", [], { CLOUDFLARE_API_TOKEN: "", CLOUDFLARE_ACCOUNT_ID: "" });
  expect(await doctor.ended).toBe(1);
  const lines = doctor.output().split("\n");
  expect(lines).toContain("ok       Bindings: wrangler.toml has all of them");
  expect(lines).toContain(
    "MISSING  KV id: run npx wrangler kv namespace create KV, and put the id that it prints into wrangler.toml",
  );
  expect(lines).toContain(
    "MISSING  Account: wrangler is not logged in: run npx wrangler login, or set CLOUDFLARE_API_TOKEN",
  );
});

test("runs a task on each encoder of a service, and leaves nothing behind", async () => {
  const { url, key } = rig;
  const doctor = runScript("doctor", ["--url", url, "--service"], { API_KEY: key });
  expect([await doctor.ended, doctor.output()]).toEqual([0, expect.anything()]);
  expect(doctor.output()).toMatch(
    /^ok {7}Upload: a picture is in storage\nok {7}Task on the light encoder: jpeg of \d+ bytes\nok {7}Task on the native encoder: avif of \d+ bytes\n$/,
  );
  const tasks = await fetch(`${url}/tasks`, { headers: { Authorization: `Bearer ${key}` } });
  expect(await tasks.json()).toEqual([]);
});

test("says in one line why a service cannot be used", async () => {
  const { url } = rig;
  const doctor = runScript("doctor", ["--url", url, "--service"], { API_KEY: "a-wrong-key" });
  expect(await doctor.ended).toBe(1);
  expect(doctor.output()).toMatch(/^MISSING {2}Service: .*key.*\n$/i);
  const keyless = runScript("doctor", ["--url", url], { API_KEY: "" });
  expect([await keyless.ended, keyless.output()]).toEqual([
    1,
    "error: API_KEY must be set: a key of the service at --url.\n",
  ]);
});
