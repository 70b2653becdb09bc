import { createDecipheriv } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { alsClip, alsPcm } from "../fixtures/als.ts";
import { clip } from "../fixtures/clips.ts";
import { PAGE_ENCODER } from "../fixtures/fast-encoder.ts";
import { heAacClip } from "../fixtures/he-aac.ts";
import { JOINED_NUMBERS, joinedRates, numbersOf } from "../integrity/joined-rates.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { runNative } from "../judge/native.ts";
import { flacWith, readComments } from "../judge/several.ts";
import {
  LOCATION,
  MADE,
  readCovers,
  readCreationTime,
  readFileTags,
  taggedVideo,
  WORK,
} from "../judge/tags.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
  await rig.serve(await clip("mp4"), "clip.mp4");
  await rig.serve(await clip("jpeg"), "photo.jpg");
});
afterAll(() => rig?.close());
beforeEach(async () => {
  await openKit(rig.lab.page, { name: "use" });
  return async () => {
    await rig.lab.page.evaluate(() => kit.client.close());
    expect(rig.lab.complaints.splice(0)).toEqual([]);
  };
});

test("re-encodes a file to H.264 at another size, and reports every change", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client, base64 } = kit;
    const input = await kit.file("/files/clip.mp4", "my clip é.mp4");
    const task = await client.tasks.create({ input, kind: "video", options: { width: 80 } });
    const updates: { status: string; progress: number | null }[] = [];
    client.on(task, "update", ({ record, progress }) => updates.push({ status: record.status, progress }));
    const done = await client.tasks.wait(task);
    if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
    const output = await client.output(done);
    const bytes = await base64(await output.blob());
    const fetched = await base64(await (await fetch(await output.url())).blob());
    const streamed = await base64(await new Response(await output.stream()).blob());
    const names = output.files.map(({ name }) => name);
    return {
      task,
      done,
      updates,
      bytes,
      same: [fetched === bytes, streamed === bytes],
      names,
      stored: await kit.stored(),
    };
  });
  const { task, done, updates } = seen;
  expect(task).toMatchObject({ status: "queued", input: "file:my clip é.mp4", output: null });
  const source = done.steps.at(-1)?.output;
  expect(source).toMatchObject({
    ...{ kind: "video", format: "mp4", mime: "video/mp4", width: 80, height: 44, encoder: PAGE_ENCODER },
    url: `opfs:/use/out/${task.id}/my-clip-e.mp4`,
  });
  expect(done.output).toBe(source?.url);
  expect([seen.names, seen.same]).toEqual([["my-clip-e.mp4"], [true, true]]);
  const { streams } = await rig.judge(seen.bytes, "out.mp4");
  expect(streams.map(({ codec_name, width, nb_frames }) => [codec_name, width, nb_frames])).toEqual([
    ["h264", 80, "50"],
    ["aac", undefined, expect.any(String)],
  ]);
  const statuses = updates.map(({ status }) => status).filter((each, index, all) => each !== all[index - 1]);
  // The first update may come late.
  expect(statuses).toEqual(["queued", "processing", "succeeded"].slice(-statuses.length));
  expect(updates.at(-1)).toEqual({ status: "succeeded", progress: 100 });
  const percents = updates.map(({ progress }) => progress ?? 0);
  expect(percents).toEqual(percents.toSorted((a, b) => a - b));
  // Only the output remains.
  expect(seen.stored.filter((path) => !path.includes("my-clip-e"))).toEqual([]);
});

test("makes MP3 from a blob and WebP from a URL", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client, base64 } = kit;
    const blob = await (await fetch("/files/clip.mp4")).blob();
    const requests = [
      { input: blob, kind: "audio", options: { format: "mp3" } },
      {
        input: new URL("/files/clip.mp4", location.href).href,
        kind: "image",
        options: { format: "webp", width: 40 },
      },
    ] as const;
    return Promise.all(
      requests.map(async (request) => {
        const done = await client.tasks.wait(await client.tasks.create(request));
        if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
        const output = await client.output(done);
        return {
          input: done.input,
          bytes: await base64(await output.blob()),
          type: (await output.blob()).type,
        };
      }),
    );
  });
  const [sound, picture] = seen;
  const judged = await rig.judge(sound?.bytes ?? "", "out.mp3");
  expect([sound?.input, sound?.type, judged.streams[0]?.codec_name]).toEqual([
    "file:blob",
    "audio/mpeg",
    "mp3",
  ]);
  expect(Math.abs(Number(judged.format.duration) - 2)).toBeLessThan(0.1);
  const looked = await rig.judge(picture?.bytes ?? "", "out.webp");
  expect([picture?.type, looked.streams[0]?.codec_name, looked.streams[0]?.width]).toEqual([
    "image/webp",
    "webp",
    40,
  ]);
});

test("sound of HE-AAC has the rate and the channels that its packets hold, not those of its headers", async () => {
  const at = await rig.serve(await heAacClip("aac"));
  const bytes = await rig.lab.page.evaluate(async (path) => {
    const request = { input: await kit.file(path), kind: "audio", options: { format: "mp3" } } as const;
    return kit.base64((await kit.client.run(request)).blob);
  }, at);
  const { streams } = await rig.judge(bytes, "radio.mp3");
  expect(streams).toMatchObject([{ codec_name: "mp3", channels: 2, sample_rate: "44100" }]);
});

test("sound of MPEG-4 ALS has its name, and every sample of a span", async () => {
  const at = await rig.serve(await alsClip(16));
  const { codecs, bytes } = await rig.lab.page.evaluate(async (path) => {
    const { client, base64, file } = kit;
    const input = await file(path);
    const { codecs } = await client.probe(input);
    const options = { format: "wav", start: 0.3, end: 0.8 } as const;
    const { blob } = await client.run({ input, kind: "audio", options });
    return { codecs, bytes: await base64(blob) };
  }, at);
  expect(codecs).toEqual({ video: null, audio: "mp4als" });
  const path = join(rig.folder, "als.wav");
  await writeFile(path, Buffer.from(bytes, "base64"));
  const { output } = await runNative(["-i", path, "-f", "s16le", "-"]);
  expect(output.equals(alsPcm(16).subarray(14_400 * 4, 38_400 * 4))).toBe(true);
});

test("a join loses no picture of a variable or a higher frame rate", async () => {
  const [uneven, quick] = await joinedRates();
  await Promise.all([rig.serve(uneven, "uneven.mp4"), rig.serve(quick, "quick.mp4")]);
  const { fps, bytes } = await rig.lab.page.evaluate(async () => {
    const { client, base64 } = kit;
    const input = await kit.file("/files/uneven.mp4");
    const concat = [{ url: await kit.file("/files/quick.mp4") }];
    const { blob, source } = await client.run({ input, kind: "video", options: { quality: "high", concat } });
    return { fps: source.fps, bytes: await base64(blob) };
  });
  expect(fps).toBe(60);
  const path = join(rig.folder, "joined-rates.mp4");
  await writeFile(path, Buffer.from(bytes, "base64"));
  expect(numbersOf(await readFrames(path))).toEqual(JOINED_NUMBERS);
});

test("makes AVIF from a picture, copies packets into another container, and joins what matches", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client, base64 } = kit;
    const concat = [{ url: await kit.file("/files/clip.mp4") }];
    const requests = [
      { input: await kit.file("/files/photo.jpg"), kind: "image", options: { format: "avif", width: 40 } },
      { input: await kit.file("/files/clip.mp4"), kind: "video", options: { format: "mov" } },
      { input: await kit.file("/files/clip.mp4"), kind: "video", options: { concat } },
    ] as const;
    return Promise.all(
      requests.map(async (request) => {
        const done = await client.tasks.wait(await client.tasks.create(request));
        if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
        const output = await client.output(done);
        const { encoder, reason } = output.source;
        return { encoder, reason, bytes: await base64(await output.blob()) };
      }),
    );
  });
  const [picture, copy, joined] = seen;
  expect(seen.map(({ encoder }) => encoder)).toEqual(["avif", "copy", "wasm"]);
  expect(joined?.reason).toBe("The pictures are copied; only the sound is encoded.");
  const film = await rig.judge(joined?.bytes ?? "", "joined.mp4");
  expect(film.streams.map(({ codec_name, nb_frames }) => [codec_name, nb_frames])).toEqual([
    ["h264", "100"],
    ["aac", expect.any(String)],
  ]);
  expect(copy?.reason).toBe("Copied without re-encoding.");
  const looked = await rig.judge(picture?.bytes ?? "", "out.avif");
  expect(looked.streams[0]).toMatchObject({ codec_name: "av1", width: 40 });
  const { streams, format } = await rig.judge(copy?.bytes ?? "", "out.mov");
  expect(streams.map(({ codec_name, nb_frames }) => [codec_name, nb_frames])).toEqual([
    ["h264", "50"],
    ["aac", expect.any(String)],
  ]);
  expect(format.format_name).toMatch(/mov/);
});

test("adaptive video has a master playlist whose files are all readable in this page", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client } = kit;
    const input = await kit.file("/files/clip.mp4");
    const done = await client.tasks.wait(await client.tasks.create({ input, kind: "adaptive_video" }));
    if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
    const output = await client.output(done);
    const urls = (text: string) =>
      [...text.matchAll(/^(?!#)\S+|URI="([^"]+)"/gm)].map(([line, uri]) => uri ?? line);
    const master = await (await fetch(await output.url())).text();
    const playlists = await Promise.all(urls(master).map(async (url) => (await fetch(url)).text()));
    const parts = await Promise.all(
      playlists.flatMap(urls).map(async (url) => (await (await fetch(url)).blob()).size),
    );
    const kinds = [master, ...playlists].flatMap(urls).map((url) => new URL(url).protocol);
    const media = ({ name }: { name: string }) => !/\.(m3u8|mpd)$/.test(name);
    const sizes = output.files.filter(media).map(({ file }) => file.size);
    const options = { format: "dash", width: 80 } as const;
    const second = await client.tasks.create({ input, kind: "adaptive_video", options });
    const dash = await client.output(await client.tasks.wait(second));
    const listed = await (await fetch(await dash.url())).text();
    const links = [...listed.matchAll(/(?:sourceURL|media)="([^"]+)"/g)].map(([, url = ""]) => url);
    const linked = await Promise.all(links.map(async (url) => (await (await fetch(url)).blob()).size));
    return {
      kinds: [...new Set(kinds)],
      dash: { linked: linked.sort(), sizes: dash.files.filter(media).map(({ file }) => file.size) },
      dashUrl: dash.source.url,
      parts: parts.sort(),
      sizes: sizes.sort(),
      names: output.files.map(({ name }) => name),
      url: output.source.url,
      renditions: output.source.renditions?.length,
    };
  });
  expect(seen.kinds).toEqual(["blob:"]);
  expect(seen.names).toContain("master.m3u8");
  expect(seen.url).toMatch(/^opfs:\/use\/out\/task_\w+\/master\.m3u8$/);
  expect(seen.renditions).toBeGreaterThan(0);
  expect(seen.parts).toEqual(seen.sizes);
  expect(seen.parts.length).toBeGreaterThan(1);
  expect(seen.dashUrl).toMatch(/\/manifest\.mpd$/);
  expect(seen.dash.linked).toEqual(seen.dash.sizes.sort());
  expect(seen.dash.linked.length).toBeGreaterThan(1);
});

test("a page encrypts a stream with a key that it shows to nobody, and keeps until the end alone", async () => {
  const key = Buffer.from("000102030405060708090a0b0c0d0eff", "hex");
  const key_url = "https://keys.example.com/1";
  const seen = await rig.lab.page.evaluate(
    async ([key, key_url]) => {
      const { client } = kit;
      const input = await kit.file("/files/clip.mp4");
      const options = { width: 80, encryption: { method: "aes-128", key, key_url } } as const;
      const task = await client.tasks.create({ input, kind: "adaptive_video", options });
      const done = await client.tasks.wait(task);
      const { files } = await client.output(done);
      const file = (end: RegExp) => files.find(({ name }) => end.test(name))?.file;
      const bytes = new Uint8Array((await file(/\/seg_00000\.m4s$/)?.arrayBuffer()) ?? new ArrayBuffer(0));
      const retryError = await client.tasks.retry(task.id).catch((thrown: Error) => thrown.message);
      return {
        ...{ options: [task.options, done.options], error: done.error, retryError: String(retryError) },
        ...{ playlist: await file(/\/playlist\.m3u8$/)?.text(), segment: [...bytes] },
      };
    },
    [key.toString("hex"), key_url] as const,
  );
  expect(seen.error).toBeNull();
  const shown = { width: 80, encryption: { method: "aes-128", key_url } };
  expect(seen.options).toEqual([shown, shown]);
  expect(seen.playlist).toContain(`#EXT-X-KEY:METHOD=AES-128,URI="${key_url}"\n`);
  const decipher = createDecipheriv("aes-128-cbc", key, Buffer.alloc(16));
  const clear = Buffer.concat([decipher.update(Buffer.from(seen.segment)), decipher.final()]);
  expect(clear.toString("latin1", 4, 8)).toMatch(/^(styp|moof)$/);
  expect(seen.retryError).toMatch(/^options\.encryption\.key is required/);
});

test("a page removes the key of a run that a crash kept from being stored", async () => {
  await rig.lab.page.evaluate(async () => {
    await kit.client.close();
    const opening = indexedDB.open("use");
    await new Promise((resolve) => opening.addEventListener("success", resolve));
    const value = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-CBC", false, ["encrypt"]);
    const writing = opening.result.transaction("pieces", "readwrite");
    writing.objectStore("pieces").put({ run_id: "task_lost", name: "content key", value });
    await new Promise((resolve) => writing.addEventListener("complete", resolve));
    opening.result.close();
  });
  const storedKeys = () =>
    rig.lab.page.evaluate(async () => {
      const opening = indexedDB.open("use");
      await new Promise((resolve) => opening.addEventListener("success", resolve));
      const reading = opening.result.transaction("pieces").objectStore("pieces").getAllKeys();
      await new Promise((resolve) => reading.addEventListener("success", resolve));
      opening.result.close();
      return reading.result;
    });
  expect(await storedKeys()).toContainEqual(["task_lost", "content key"]);
  await openKit(rig.lab.page, { name: "use" });
  await expect.poll(storedKeys, { timeout: 60_000 }).toEqual([]);
});

test("prefer: speed uses the browser's own encoder, which keeps tags and cover", async () => {
  await rig.lab.page.evaluate(() => kit.client.close());
  await openKit(rig.lab.page, { name: "use", prefer: "speed" });
  const tagged = await taggedVideo("mp4");
  await rig.serve(tagged, "tagged.mp4");
  const { source, bytes } = await rig.lab.page.evaluate(async () => {
    const { client } = kit;
    const input = await kit.file("/files/tagged.mp4");
    const options = { width: 128, end: 1, metadata: "keep" } as const;
    const done = await client.tasks.wait(await client.tasks.create({ input, kind: "video", options }));
    if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
    const { source, blob } = await client.output(done);
    return { source, bytes: await kit.base64(await blob()) };
  });
  expect(source).toMatchObject({ encoder: "webcodecs", width: 128, format: "mp4" });
  expect(source.reason).toBe("Fits the encoder's memory and time limits.");
  expect(source.refusals?.[0]).toEqual({ encoder: "copy", code: "needs_encoding", track: "video" });
  const { streams } = await rig.judge(bytes, "speed.mp4");
  expect(streams.map(({ codec_name, nb_frames }) => [codec_name, nb_frames])).toEqual([
    ["h264", "25"],
    ["aac", expect.any(String)],
    ["mjpeg", undefined],
  ]);
  const path = join(rig.folder, "judged", "speed.mp4");
  expect(await readFileTags(path)).toEqual({ ...WORK, location: LOCATION });
  expect(await readCreationTime(path)).toBe(MADE);
  expect(await readCovers(path)).toEqual(await readCovers(tagged));
});

test("keeps long tags and each of several values of a tag", async () => {
  const lyrics = "La la lä, ".repeat(510).trim();
  const tags = ["ARTIST=Ada", "ARTIST=Ben; Cleo", "BPM=120", "COMPILATION=1", "ISRC=USRC17607839"];
  const comments = [...tags, `LYRICS=${lyrics}`];
  await rig.serve(await flacWith([...comments, "LOCATION=Paris"]), "several.flac");
  const { dropped, bytes } = await rig.lab.page.evaluate(async () => {
    const input = await kit.file("/files/several.flac");
    const { blob, source } = await kit.client.run({ input, kind: "audio", options: { format: "opus" } });
    return { dropped: source.dropped, bytes: await kit.base64(blob) };
  });
  expect(dropped).toEqual([{ kind: "tags", reason: "private" }]);
  const path = join(rig.folder, "several.opus");
  await writeFile(path, Buffer.from(bytes, "base64"));
  const named = (await readComments(path)).map((text) =>
    text.replace(/^[^=]+/, (name) => name.toUpperCase()),
  );
  expect(named.sort()).toEqual(comments.toSorted());
});
