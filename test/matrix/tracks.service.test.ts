import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { canonicalLanguage } from "../../src/media/features/track.ts";
import { keepClip, makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { compareSound, readSound, recallSound } from "../judge/sound.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const noise = (seed: number) =>
  `anoisesrc=seed=${seed}:color=pink:amplitude=0.5:sample_rate=48000:duration=3,lowpass=f=3000`;

/** A video with English stereo, German mono at 44.1 kHz and Brazilian 5.1 sound, each of its own noise. */
function dubbed(extension: "mp4" | "mkv" | "ts"): Promise<string> {
  const six = "[3:a][4:a][5:a][3:a][4:a][5:a]join=inputs=6:channel_layout=5.1[wide]";
  return makeClip(extension, [
    ...["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=3"],
    ...[1, 2, 3, 4, 5].flatMap((seed) => ["-f", "lavfi", "-i", noise(seed)]),
    ...["-filter_complex", `[1:a]aformat=channel_layouts=stereo[two];${six}`],
    ...["-map", "0:v", "-map", "[two]", "-map", "2:a", "-map", "[wide]"],
    ..."-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 12 -c:a aac -b:a 192k -ar:a:1 44100 -ac:a:1 1".split(
      " ",
    ),
    ..."-metadata:s:a:0 language=eng -metadata:s:a:1 language=deu -metadata:s:a:2 language=por".split(" "),
  ]);
}

/** Asserts that a file sounds like one track of a source, and like no other. */
async function expectTrack(output: string, source: string, track: number): Promise<void> {
  const as = { channels: 1, sample_rate: 8000 };
  const got = await readSound(output, as);
  for (const each of [0, 1, 2]) {
    const expected = await recallSound(source, { ...as, after: ["-map", `0:a:${each}`] });
    const [echo] = compareSound(got, expected);
    if (each === track) expect(echo?.correlation).toBeGreaterThan(0.9);
    else expect(echo?.correlation).toBeLessThan(0.4);
  }
}

const text = async (url: string) => (await fetch(url)).text();

async function languagesOf(path: string): Promise<(string | undefined)[]> {
  const report = await runFfprobe(path, ["-select_streams", "a"]);
  const { streams } = report as { streams: { tags?: { language?: string } }[] };
  return streams.map(({ tags }) => canonicalLanguage(tags?.language));
}

const CASES = [
  { extension: "mp4", kind: "audio", options: { format: "wav", track: 1 }, track: 1, channels: 1 },
  { extension: "mkv", kind: "audio", options: { format: "mp3", track: "de" }, track: 1, channels: 1 },
  { extension: "ts", kind: "audio", options: { format: "flac", track: "pt" }, track: 2, channels: 6 },
  { extension: "mkv", kind: "audio", options: { format: "aac", track: "eng" }, track: 0, channels: 2 },
  { extension: "mp4", kind: "video", options: { track: "por" }, track: 2, channels: 2 },
  { extension: "mp4", kind: "video", options: { format: "mov" }, track: 0, channels: 2 },
  { extension: "mkv", kind: "video", options: { mode: "copy", track: 1 }, track: 1, channels: 1 },
  { extension: "mkv", kind: "video", options: { track: "ger", width: 80 }, track: 1, channels: 1 },
  { extension: "mp4", kind: "video", options: { track: 1, codec: "h265" }, track: 1, channels: 1 },
  {
    extension: "mp4",
    kind: "video",
    options: { track: 2, normalize: true, format: "webm", width: 80 },
    track: 2,
    channels: 2,
  },
] as const;

test.concurrent.for(CASES)(
  "$kind of $extension with $options",
  LIMIT,
  async ({ extension, kind, options, track, channels }, { expect }) => {
    const source = await dubbed(extension);
    const output = await rig.door.encode({ input: rig.serve(source), kind, options });
    const facts = await readFacts(output.path);
    expect(facts.sound?.channels).toBe(channels);
    if (kind === "video") {
      expect(facts.picture?.times).toHaveLength(75);
      expect(await languagesOf(output.path)).toEqual([["en", "de", "pt"][track]]);
    }
    await expectTrack(output.path, source, track);
    const stepOutput = output.task.steps.find((step) => step.kind === kind)?.output;
    const { counts, dropped } = stepOutput as {
      counts?: { sound?: { source: number } };
      dropped?: unknown[];
    };
    expect(Math.abs((counts?.sound?.source ?? 0) - 3)).toBeLessThan(0.2);
    const others = [0, 1, 2].filter((each) => each !== track).map((each) => each + 1);
    const lost = dropped?.filter((each) => Object(each).reason === "one_track");
    expect(lost?.map((each) => Object(each).index)).toEqual(others);
  },
);

test.concurrent("a stream has the sound track that is asked for", LIMIT, async ({ expect }) => {
  const source = await dubbed("mp4");
  const options = { track: "de", width: 80 } as const;
  const task = await rig.door.runTask({ input: rig.serve(source), kind: "adaptive_video", options });
  expect(task.status).toBe("succeeded");
  await expectTrack(task.output ?? "", source, 1);
});

test.concurrent("a stream has all sound tracks, each with its language", LIMIT, async ({ expect }) => {
  const source = await dubbed("mkv");
  const options = { format: "hls_dash", width: 80 } as const;
  const task = await rig.door.runTask({ input: rig.serve(source), kind: "adaptive_video", options });
  expect(task.status).toBe("succeeded");
  const master = task.output ?? "";
  const playlist = await text(master);
  const media = playlist.match(/^#EXT-X-MEDIA:.*$/gm)?.map((line) => line.replace(/,URI=.*/, ""));
  const facts = '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio"';
  expect(media).toEqual([
    `${facts},NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2"`,
    `${facts},NAME="Deutsch",LANGUAGE="de",DEFAULT=NO,AUTOSELECT=YES,CHANNELS="1"`,
    `${facts},NAME="português",LANGUAGE="pt",DEFAULT=NO,AUTOSELECT=YES,CHANNELS="2"`,
  ]);
  const sounds = [...playlist.matchAll(/^#EXT-X-MEDIA:.*URI="([^"]+)"/gm)].map(([, uri = ""]) => uri);
  for (const [track, uri] of sounds.entries()) await expectTrack(new URL(uri, master).href, source, track);
  const stepOutput = task.steps.find(({ kind }) => kind === "adaptive_video")?.output;
  expect(stepOutput).toMatchObject({ dropped: [{ kind: "channels", index: 3, reason: "downmixed" }] });
  expect(Math.abs((stepOutput?.counts?.sound?.output ?? 0) - 9)).toBeLessThan(0.5);
});

// The Matroska above with a first sound track of an unknown codec.
async function foreign(): Promise<string> {
  const source = await dubbed("mkv");
  return keepClip("mkv", `${source} foreign`, async (path) => {
    const bytes = await readFile(source);
    bytes.write("A_XYZ", bytes.indexOf("A_AAC"), "latin1");
    await writeFile(path, bytes);
  });
}

test.concurrent.for(["audio", "video", "adaptive_video"] as const)(
  "the first sound track of %s is the first whose codec is known",
  LIMIT,
  async (kind, { expect }) => {
    const options = kind === "audio" ? {} : { width: 80, ...(kind === "video" && { format: "webm" }) };
    const task = await rig.door.runTask({ input: rig.serve(await foreign()), kind, options });
    expect(task.error).toBeNull();
    const output = task.output ?? "";
    // A stream has both of the others.
    const [, first = ""] = (kind === "adaptive_video" && /URI="([^"]+)"/.exec(await text(output))) || [];
    await expectTrack(new URL(first, output).href, await dubbed("mkv"), 1);
    const stepOutput = task.steps.find((step) => step.kind === kind)?.output;
    const lost = stepOutput?.dropped?.filter((each) => each.kind === "audio");
    const one = { kind: "audio", index: 3, language: expect.any(String), reason: "one_track" };
    expect(lost).toEqual([
      { kind: "audio", index: 1, language: "eng", reason: "not_supported" },
      ...(kind === "adaptive_video" ? [] : [one]),
    ]);
  },
);

test.concurrent.for([{ track: 5 }, { track: "ja" }] as const)(
  "track $track is not there",
  LIMIT,
  async ({ track }, { expect }) => {
    const input = rig.serve(await dubbed("mkv"));
    const task = await rig.door.runTask({ input, kind: "audio", options: { track } });
    expect(task.error).toMatchObject({ kind: "invalid_options" });
    expect(task.error?.message).toMatch(
      /^options\.track is none of the source's sound tracks, which are 0 \(eng\), 1 \((ger|deu)\), 2 \(por\)\.$/,
    );
  },
);

test("a track of a video without sound is not there, its usual one is nothing", LIMIT, async () => {
  const input = rig.serve(
    await makeClip("mp4", ["-f", "lavfi", "-i", "testsrc2=size=64x48:duration=1", "-pix_fmt", "yuv420p"]),
  );
  for (const kind of ["video", "adaptive_video"] as const) {
    for (const track of ["de", 7]) {
      const { error } = await rig.door.runTask({ input, kind, options: { track } });
      const message = "options.track names a sound track of a source that has no sound.";
      expect(error).toMatchObject({ kind: "invalid_options", message });
    }
  }
  const { path } = await rig.door.encode({ input, kind: "video", options: { track: 0 } });
  expect((await readFacts(path)).sound).toBeNull();
});

test.for([-1, 1.5, "", "english", {}])("track %o is refused", async (track) => {
  const body = { input: "https://example.com/a.mp4", kind: "audio", options: { track } };
  const { status, body: answer } = await rig.door.request("POST", "/tasks", body);
  const message = 'options.track must be the index of a sound track, from 0, or a language such as "en".';
  expect([status, answer]).toMatchObject([400, { message }]);
});
