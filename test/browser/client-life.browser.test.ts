import type { Page } from "@playwright/test";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";

// Four chunks of pictures and one of sound on two encoder workers.
const SECONDS = 24;
let rig: ClientLab;
let page: Page;
beforeAll(async () => {
  rig = await openClientLab();
  const clip = await makeClip("mp4", [
    ...`-f lavfi -i testsrc2=size=320x180:rate=25:duration=${SECONDS}`.split(" "),
    ...`-f lavfi -i sine=frequency=440:duration=${SECONDS}`.split(" "),
    ..."-c:v libx264 -preset ultrafast -crf 30 -g 50 -c:a aac -b:a 64k".split(" "),
  ]);
  await rig.serve(clip, "long.mp4");
});
afterAll(() => rig?.close());
beforeEach(async () => {
  page = rig.lab.page;
  await page.goto(rig.lab.url);
  await openKit(page, { name: "life", encoderWorkers: 2 });
  return async () => {
    await page.evaluate(() => kit.client.close());
    expect(rig.lab.complaints.splice(0)).toEqual([]);
  };
});

/** Starts a long task in a page; returns its id. */
const start = (at: Page, name = "long.mp4") =>
  at.evaluate(async (as) => {
    const input = await kit.file("/files/long.mp4", as);
    const options = { width: 240, bitrate: 400_000 } as const;
    return (await kit.client.tasks.create({ input, kind: "video", options })).id;
  }, name);

const chunksOf = (stored: readonly string[]) =>
  stored.filter((path) => path.includes("+chunks/") && !path.includes("unfinished"));

/** Waits until at least `count` chunks are stored; returns the names of their files, which differ with every write. */
const someChunks = async (at: Page, count: number) => {
  let chunks: string[] = [];
  await expect
    .poll(
      async () => {
        chunks = chunksOf(await at.evaluate(() => kit.stored()));
        return chunks.length;
      },
      { timeout: 60_000, interval: 50 },
    )
    .toBeGreaterThanOrEqual(count);
  return chunks;
};

/** Waits for a task to end; returns how it ended and the names of all chunks stored on the way. */
async function watchChunks(at: Page, id: string) {
  const { end, stored } = await at.evaluate(async (task) => {
    const stored = new Set<string>();
    let over = false;
    const look = (async () => {
      while (!over) {
        for (const path of await kit.stored()) stored.add(path);
        // Chunks stay until they are stitched, which takes longer than this.
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    const { status, error } = await kit.client.tasks.wait(task);
    over = true;
    await look;
    return { end: [status, error], stored: [...stored] };
  }, id);
  return { end, chunks: chunksOf(stored) };
}

/** Checks that each of the five chunks was written once; the last may have been stored but not yet recorded. */
function checkChunks(before: readonly string[], chunks: readonly string[]) {
  expect(before.filter((path) => !chunks.includes(path))).toEqual([]);
  expect([5, 6]).toContain(chunks.length);
}

const madeBy = (at: Page, id: string) =>
  at.evaluate(async (task) => {
    const { encoder, reason, refusals } = (await kit.client.tasks.get(task)).steps[2]?.output ?? {};
    return { encoder, reason, refusals };
  }, id);

async function judge(at: Page, id: string) {
  const bytes = await at.evaluate(
    async (task) => kit.base64(await (await kit.client.output(task)).blob()),
    id,
  );
  const { streams, format } = await rig.judge(bytes, `${id}.mp4`);
  expect(streams.map(({ codec_name, width, nb_frames }) => [codec_name, width, nb_frames])).toEqual([
    ["h264", 240, String(SECONDS * 25)],
    ["aac", undefined, expect.any(String)],
  ]);
  expect(Math.abs(Number(format.duration) - SECONDS)).toBeLessThan(0.1);
}

test("a cancel mid-encode ends all work and leaves nothing stored", async () => {
  const id = await start(page);
  await someChunks(page, 1);
  const status = await page.evaluate(async (task) => {
    const { status } = await kit.client.tasks.cancel(task);
    // The lock is released once all work has ended.
    for (;;) {
      const { held = [] } = await navigator.locks.query();
      if (held.every(({ name }) => name !== `life run ${task}`)) return status;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }, id);
  expect(status).toBe("cancelled");
  expect(await page.evaluate(() => kit.stored())).toEqual([]);
});

test("a job resumes after a reload mid-encode, repeats no finished chunk, and leaves nothing behind", async () => {
  const { job, id, usage } = await page.evaluate(async () => {
    const usage = await kit.client.usage();
    const input = await kit.file("/files/long.mp4");
    const options = { width: 240, bitrate: 400_000 } as const;
    const { id, tasks } = await kit.client.jobs.create({
      input,
      outputs: [
        { kind: "image", options: { format: "png", width: 60 }, after: "film" },
        { name: "film", kind: "video", options },
      ],
    });
    return { job: id, id: tasks[1]?.id ?? "", usage };
  });
  const before = await someChunks(page, 2);
  await page.reload();
  await openKit(page, { name: "life", encoderWorkers: 2 });
  // The choice of encoder is known from the first update after the reload.
  const choice = page.evaluate(async (task) => (await kit.client.watch(task).next()).value?.choice, id);
  const { end, chunks } = await watchChunks(page, id);
  expect(end).toEqual(["succeeded", null]);
  expect(await choice).toEqual(await madeBy(page, id));
  checkChunks(before, chunks);
  await judge(page, id);
  const { statuses, width, left, stored } = await page.evaluate(async (id) => {
    const { tasks } = await kit.client.jobs.wait(id);
    const [still] = tasks;
    const { source } = await kit.client.output(still?.id ?? "");
    await kit.client.jobs.delete(id);
    return {
      statuses: tasks.map(({ status }) => status),
      width: source.width,
      left: await kit.client.usage(),
      stored: await kit.stored(),
    };
  }, job);
  expect([statuses, width]).toEqual([["succeeded", "succeeded"], 60]);
  const { inputs, work, outputs, records } = usage;
  expect(left).toMatchObject({ inputs, work, outputs, records });
  expect(stored).toEqual([]);
});

test("all tabs see a task that one of them runs; closing that tab hands it over", async () => {
  const other = await rig.lab.newPage();
  await openKit(other, { name: "life", encoderWorkers: 2 });
  const id = await start(other);
  const seen = page.evaluate(async (task) => {
    const percents: (number | null)[] = [];
    const choices = new Set<string>();
    kit.client.on(task, "update", ({ progress, choice }) => {
      percents.push(progress);
      if (progress && progress > 10) choices.add(JSON.stringify(choice));
    });
    const done = await kit.client.tasks.wait(task);
    return { status: done.status, error: done.error, percents, choices: [...choices] };
  }, id);
  const before = await someChunks(page, 1);
  const locks = await page.evaluate(async (task) => {
    const { held = [], pending = [] } = await navigator.locks.query();
    const count = (all: LockInfo[]) => all.filter(({ name }) => name === `life run ${task}`).length;
    return { held: count(held), pending: count(pending) };
  }, id);
  expect(locks).toEqual({ held: 1, pending: 1 });
  await other.close();
  const { status, error, percents, choices } = await seen;
  expect([status, error]).toEqual(["succeeded", null]);
  expect(percents).toEqual(percents.toSorted((a, b) => (a ?? 0) - (b ?? 0)));
  expect(percents.filter((each) => each !== null && each > 10 && each < 95).length).toBeGreaterThan(0);
  expect(choices).toEqual([JSON.stringify(await madeBy(page, id))]);
  expect(before.length).toBeGreaterThan(0);
  await judge(page, id);
  await page.evaluate((task) => kit.client.tasks.delete(task), id);
});

test("a task whose tab crashes mid-encode continues in another, and repeats no finished chunk", async () => {
  const other = await rig.lab.newPage();
  await openKit(other, { name: "life", encoderWorkers: 2 });
  const id = await start(other);
  const before = await someChunks(page, 2);
  const devtools = await rig.lab.context.newCDPSession(other);
  const crashed = other.waitForEvent("crash");
  devtools.send("Page.crash").catch(() => {});
  await crashed;
  expect(rig.lab.complaints.splice(0)).toEqual(["the page crashed"]);
  const { end, chunks } = await watchChunks(page, id);
  expect(end).toEqual(["succeeded", null]);
  checkChunks(before, chunks);
  await judge(page, id);
  await page.evaluate((task) => kit.client.tasks.delete(task), id);
  await other.close();
});

test("tasks whose file is gone wait for it, reject other files, and resume with the right one", async () => {
  const { id, other } = await page.evaluate(async () => {
    const origin = await navigator.storage.getDirectory();
    const handle = await origin.getFileHandle("film.mp4", { create: true });
    await (await kit.file("/files/long.mp4")).stream().pipeTo(await handle.createWritable());
    const options = { width: 240, bitrate: 400_000 } as const;
    const outputs = [
      { kind: "video", options },
      { kind: "video", options: { ...options, width: 200 } },
    ] as const;
    const { tasks } = await kit.client.jobs.create({ input: handle, outputs });
    return { id: tasks[0]?.id ?? "", other: tasks[1]?.id ?? "" };
  });
  expect(await page.evaluate((task) => kit.client.waiting(task), id)).toBe(null);
  const before = await someChunks(page, 1);
  await page.reload();
  const { size } = await page.evaluate(async () => {
    const origin = await navigator.storage.getDirectory();
    const { size } = await (await origin.getFileHandle("film.mp4")).getFile();
    await origin.removeEntry("film.mp4");
    return { size };
  });
  await openKit(page, { name: "life", encoderWorkers: 2 });
  const waiting = (id: string) =>
    page.evaluate(
      (task) =>
        new Promise((resolve) => {
          kit.client.on(task, "update", async () => {
            const waits = await kit.client.waiting(task);
            if (waits) resolve(waits);
          });
        }),
      id,
    );
  const gone = { name: "film.mp4", size, reason: "gone" };
  expect(await Promise.all([waiting(id), waiting(other)])).toEqual([gone, gone]);
  // Both tasks of the job go on with the file that one of them is given.
  const seen = await page.evaluate(
    async ([task, next]) => {
      const { client } = kit;
      const refusal = async (file?: Blob) =>
        client.resume(task, file).then(
          () => null,
          (thrown: unknown) => [Reflect.get(Object(thrown), "kind"), Reflect.get(Object(thrown), "param")],
        );
      const right = await kit.file("/files/long.mp4", "renamed.mp4");
      const bytes = new Uint8Array(await right.arrayBuffer());
      bytes[bytes.length - 1] = 1 + (bytes.at(-1) ?? 0);
      const { status, input } = await client.tasks.get(task);
      const refusals = [await refusal(), await refusal(new Blob([bytes])), await refusal(right.slice(1))];
      await client.resume(task, right);
      const waiting = [await client.waiting(task), await client.waiting(next)];
      const cancelled = await client.tasks.cancel(next);
      const done = await client.tasks.wait(task);
      const late = await refusal(right);
      const ends = [done.status, done.error, cancelled.status];
      return { status, input, refusals, waiting, ends, late };
    },
    [id, other] as const,
  );
  expect(seen).toEqual({
    ...{ status: "processing", input: "file:film.mp4", waiting: [null, null] },
    ends: ["succeeded", null, "cancelled"],
    refusals: [
      ["input_unreachable", undefined],
      ["invalid_input", "file"],
      ["invalid_input", "file"],
    ],
    late: ["task_finished", undefined],
  });
  expect(before.length).toBeGreaterThan(0);
  await judge(page, id);
  await page.evaluate((task) => kit.client.tasks.delete(task), id);
});
