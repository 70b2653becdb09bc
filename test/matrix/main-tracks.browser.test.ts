import { describe, expect, test } from "vitest";
import { readFacts } from "../judge/facts.ts";
import { FILM_SECOND, loneDisabled, SOUND_SECOND, twoSizes } from "../judge/main-tracks.ts";
import { runNative } from "../judge/native.ts";
import { compareSound, readSound, recallSound } from "../judge/sound.ts";
import { type Encode, usePage, useService } from "./hosts.ts";

const LIMIT = { timeout: 240_000 };
const AS = { channels: 1, sample_rate: 8000 };

/** Asserts that a file sounds like the second sound track of a source, and not like the first. */
async function expectSecond(output: string, source: string): Promise<void> {
  const sound = await readSound(output, AS);
  const likeness = async (track: number) => {
    const own = await recallSound(source, { ...AS, after: ["-map", `0:a:${track}`] });
    return compareSound(sound, own)[0]?.correlation;
  };
  expect(await likeness(1)).toBeGreaterThan(0.9);
  expect(await likeness(0)).toBeLessThan(0.4);
}

// The other track has another size, shape or number of pictures.
async function judgeFilm(encode: Encode, make: () => Promise<string>) {
  const input = await make();
  const film = await encode("video", input, { format: "mp4", width: 80 });
  const { picture } = await readFacts(film.path);
  expect(picture?.times).toHaveLength(75);
  expect(picture).toMatchObject({ width: 80, height: 60 });
  const copied = (await readFacts((await encode("video", input, { format: "mp4" })).path)).picture;
  expect(copied?.times).toHaveLength(75);
  expect(copied).toMatchObject({ width: 160, height: 120 });
  const still = await encode("image", input, { format: "png", start: 1 });
  expect((await readFacts(still.path)).picture).toMatchObject({ width: 160, height: 120 });
}

async function judgeSound(encode: Encode, make: () => Promise<string>) {
  const input = await make();
  for (const [kind, options] of [
    ["audio", { format: "mp3" }],
    ["video", { width: 80 }],
    ["video", { format: "mov" }],
  ] as const)
    await expectSecond((await encode(kind, input, options)).path, input);
}

async function judgeIcon(encode: Encode) {
  const output = await encode("image", await twoSizes(), { format: "png" });
  expect((await readFacts(output.path)).picture).toMatchObject({ width: 160, height: 120 });
}

describe("by a service", () => {
  const { encode, rig } = useService();

  test.concurrent.for(Object.entries(FILM_SECOND))("takes the film behind %s", LIMIT, ([, make]) =>
    judgeFilm(encode, make),
  );
  test.concurrent.for(Object.entries(SOUND_SECOND))("takes the sound of %s", LIMIT, ([, make]) =>
    judgeSound(encode, make),
  );
  test.concurrent("takes the largest picture of an icon", LIMIT, () => judgeIcon(encode));

  test.concurrent("streams the film behind a disabled track", LIMIT, async () => {
    const { door, serve } = rig();
    const input = serve(await FILM_SECOND["a disabled track first in MP4"]());
    const { output } = await door.runTask({ input, kind: "adaptive_video", options: { width: 80 } });
    const { output: list } = await runNative(["-i", output ?? "", "-map", "0:v:0", "-f", "framemd5", "-"]);
    const lines = list.toString().split("\n");
    expect(lines).toContain("#dimensions 0: 80x60");
    expect(lines.filter((line) => /^\d/.test(line))).toHaveLength(75);
  });

  test.concurrent("streams with the default sound as the default", LIMIT, async () => {
    const input = await SOUND_SECOND["the default second in Matroska"]();
    const { door, serve } = rig();
    const task = await door.runTask({
      input: serve(input),
      kind: "adaptive_video",
      options: { width: 80 },
    });
    const playlist = await (await fetch(task.output ?? "")).text();
    const languages = [...playlist.matchAll(/LANGUAGE="(\w+)",DEFAULT=(\w+)/g)].map(([, ...named]) => named);
    expect(languages).toEqual([
      ["en", "YES"],
      ["ja", "NO"],
    ]);
  });
});

describe("by a page", () => {
  const { encode } = usePage("main-tracks");

  test.for(Object.entries(FILM_SECOND))("takes the film behind %s", LIMIT, ([, make]) =>
    judgeFilm(encode, make),
  );
  test.for(Object.entries(SOUND_SECOND))("takes the sound of %s", LIMIT, ([, make]) =>
    judgeSound(encode, make),
  );
  test("takes a disabled film that is alone", LIMIT, async () => {
    const input = await loneDisabled();
    for (const options of [{ width: 80 }, { format: "mp4" }]) {
      const output = await encode("video", input, options);
      expect((await readFacts(output.path)).picture?.times).toHaveLength(75);
    }
  });
  test("takes the largest picture of an icon", LIMIT, () => judgeIcon(encode));
});
