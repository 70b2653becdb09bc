import { afterAll, beforeAll, expect, test } from "vitest";
import { openRig, type Rig } from "../judge/rig.ts";
import { runScript } from "./run-script.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

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
