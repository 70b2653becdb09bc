import { execFile } from "node:child_process";
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { type Rig, startRig, until } from "./rig.ts";

const run = promisify(execFile);
const NOBODY = 65_534;
const heavy = () => clip("mp4", { size: "1280x720", seconds: 8 });

test("a user that it cannot change to is refused at the start", async () => {
  const starting = startRig({ FFMPEG_USER: "nobody-of-this-name" });
  await expect(starting).rejects.toThrow("ffmpeg cannot run as nobody-of-this-name (FFMPEG_USER) here.");
});

// Only root may change users.
describe.skipIf(process.getuid?.() !== 0)("ffmpeg as a user of its own", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ FFMPEG_USER: "nobody", NATIVE_ENCODER_TOKEN: "a-token-of-twenty-chars" });
    await chmod(rig.home, 0o711);
  });
  afterAll(() => rig?.close());

  test("has no rights, and cannot read the server's environment", async () => {
    const job = await rig.job(await heavy(), "video", { codec: "h265" });
    expect((await rig.call("POST", "/jobs", job)).status).toBe(202);
    const [pid = 0] = await until(async () => {
      const pids = await rig.ffmpegs();
      return pids.length > 0 ? pids : null;
    });
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    expect(status).toMatch(new RegExp(`^Uid:(\\s+${NOBODY}){4}$`, "m"));
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    for (const file of ["environ", "cmdline"])
      expect(await readFile(`/proc/${pid}/${file}`, "utf8")).not.toContain("a-token-of-twenty-chars");
    const environment = `/proc/${rig.child.pid}/environ`;
    expect(await readFile(environment, "utf8")).toContain("a-token-of-twenty-chars");
    const asNobody = ["--reuid", "nobody", "--regid", "0", "--clear-groups", "cat", environment];
    await expect(run("setpriv", asNobody)).rejects.toThrow("Permission denied");
    expect((await rig.call("DELETE", `/jobs/${job.id}`)).status).toBe(204);
    expect(await rig.ffmpegs()).toEqual([]);
    expect(await rig.left()).toEqual([]);
  });

  test("encodes a file and a stream, and leaves nothing behind", async () => {
    const film = await rig.job(await clip("mp4", { seconds: 1 }), "video", { format: "webm" });
    expect(await rig.run(film)).toMatchObject({ state: "done" });
    const { picture } = await readFacts(join(rig.sink.folder, film.id, "output.webm"));
    expect(picture).toMatchObject({ codec: "vp9", width: 160, height: 90 });
    const stream = await rig.job(await clip("mp4", { seconds: 2, size: "640x360" }), "adaptive_video");
    expect(await rig.run(stream)).toMatchObject({ state: "done" });
    expect(await rig.left()).toEqual([]);
  });

  test("ends with a server that is killed", async () => {
    const job = await rig.job(await heavy(), "video", { codec: "h265" });
    await rig.call("POST", "/jobs", job);
    await until(async () => ((await rig.ffmpegs()).length > 0 ? true : null));
    const pids = await rig.ffmpegs();
    rig.child.kill("SIGKILL");
    await until(async () => {
      const states = pids.map((pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "gone"));
      return (await Promise.all(states)).every((stat) => stat === "gone" || / Z /.test(stat)) || null;
    });
  });
});
