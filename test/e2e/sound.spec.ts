import { crowdedClip, noiseClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { measureLoudness } from "../judge/loudness.ts";
import { runNative } from "../judge/native.ts";
import { convertTo, named, openOptions } from "./result-flow.ts";
import { backToList, expect, test } from "./workbench.ts";

test("changes the sound of a video in each way that its options offer", async ({ workbench, folder }) => {
  await test.step("sets the loudness of a video's sound, or leaves it out", async () => {
    const file = await named(await noiseClip(4), folder, "talk.mp4");
    const card = await openOptions(workbench, file);
    await card.getByLabel("Loudness").selectOption("-23");
    await card.getByLabel("Channels").selectOption("1");
    await card.getByLabel("Fade in (seconds)").fill("3");
    await card.getByLabel("Fade out (seconds)").fill("2");
    await expect(card.getByLabel("Fade out (seconds)")).toHaveAccessibleDescription(
      /Fade out is longer than the output, which has 4 seconds for its fades\./,
    );
    await card.getByLabel("Fade in (seconds)").fill("0.1");
    await card.getByLabel("Fade out (seconds)").fill("0.1");
    const output = await convertTo(workbench, card, folder);
    expect(Math.abs((await measureLoudness(output)).integrated + 23)).toBeLessThan(0.7);
    expect((await readFacts(output)).sound).toMatchObject({ codec: "aac", channels: 1 });
  });
  await test.step("mutes a video and speeds it up", async () => {
    const file = await named(await noiseClip(2), folder, "noisy.mp4");
    const card = await openOptions(workbench, file);
    await card.getByLabel("Channels").selectOption("1");
    await card.getByLabel("Loudness").selectOption("No sound");
    await expect(card.getByLabel("Channels")).toHaveCount(0);
    await card.getByLabel("Speed").selectOption("2");
    const facts = await readFacts(await convertTo(workbench, card, folder));
    expect([facts.sound, facts.picture?.times.length]).toEqual([null, 25]);
  });
  await test.step("stores the sound of a video with the chosen codec, bitrate and sample rate", async () => {
    const file = await named(await noiseClip(4), folder, "stored.mp4");
    const card = await openOptions(workbench, file);
    const bitrate = card.getByLabel("Bitrate of the sound (kbit/s)");
    await card.getByLabel("Codec of the sound").selectOption("MP3");
    await bitrate.fill("500");
    await expect(bitrate).toHaveAccessibleDescription(/must be a number from 32 to 320 kbit\/s\./);
    await bitrate.fill("64");
    await card.getByLabel("Sample rate").selectOption("24 kHz");
    const { sound, picture } = await readFacts(await convertTo(workbench, card, folder));
    expect(sound).toMatchObject({ codec: "mp3", sample_rate: 24_000 });
    // Pictures that no option changes are copied.
    expect(picture?.codec).toBe("h264");
  });
  await test.step("resets a codec and a sample rate that the newly chosen format does not support", async () => {
    const card = await openOptions(workbench, await named(await noiseClip(2), folder, "held.mp4"));
    await card.getByLabel("Codec of the sound").selectOption("MP3");
    await card.getByLabel("Sample rate").selectOption("22.05 kHz");
    await card.getByLabel("Format", { exact: true }).selectOption("webm");
    await expect(card.getByLabel("Codec of the sound")).toHaveValue("");
    // All Opus has the same.
    await expect(card.getByLabel("Sample rate")).toHaveCount(0);
    await card.getByLabel("Codec of the sound").selectOption("Vorbis");
    await expect(card.getByLabel("Sample rate")).toHaveValue("");
    await expect(card.getByRole("button", { name: "Convert", exact: true })).toBeEnabled();
    await backToList(workbench);
  });
  await test.step("halves the volume of sound", async () => {
    const source = await noiseClip(4);
    const card = await openOptions(workbench, await named(source, folder, "loud.mp4"));
    await card.getByRole("radio", { name: "Audio", exact: true }).check();
    await card.getByLabel("Format", { exact: true }).selectOption("wav");
    await card.getByLabel("Sample rate").selectOption("96 kHz");
    await card.getByLabel("Loudness").selectOption("Louder or softer");
    const volume = card.getByLabel("Volume", { exact: true });
    await volume.fill("11");
    await expect(volume).toHaveAccessibleDescription(/Volume must be a factor from 0 to 10\./);
    await volume.fill("0.5");
    const output = await convertTo(workbench, card, folder);
    const [before, after] = [await measureLoudness(source), await measureLoudness(output)];
    expect(after.integrated - before.integrated).toBeCloseTo(-6, 0);
    expect((await readFacts(output)).sound).toMatchObject({ sample_rate: 96_000 });
  });
});

test("copies a part or a sound track of a video without encoding it", async ({ workbench, folder }) => {
  await test.step("cuts a video without encoding it", async () => {
    const source = await noiseClip(2);
    const card = await openOptions(workbench, await named(source, folder, "long.mp4"));
    await card.getByRole("slider", { name: "Start" }).focus();
    for (let press = 0; press < 6; press++) await workbench.keyboard.press("ArrowRight");
    await card.getByRole("radio", { name: "Keep original" }).check();
    await expect(card.getByText("the start moves back to a keyframe")).toBeVisible();
    const output = await convertTo(workbench, card, folder);
    const { worst, frames } = await measureLikeness(output, source, { filter: "trim=start_frame=12" });
    expect([worst, frames]).toEqual([1, 38]);
  });
  await test.step("takes a sound track out of a video without encoding it", async () => {
    const source = await crowdedClip(2);
    const card = await openOptions(workbench, await named(source, folder, "languages.mkv"));
    await card.getByRole("radio", { name: "Audio", exact: true }).check();
    await card.getByLabel("Sound track").selectOption("2 – FLAC");
    await card.getByRole("radio", { name: "Keep original" }).check();
    await expect(card.getByLabel("Format")).toHaveValue("flac");
    await expect(card.locator(".outcome")).toContainText("FLAC");
    // Another format needs an encode.
    await card.getByLabel("Format").selectOption("wav");
    await expect(card.getByRole("radio", { name: "Medium" })).toBeChecked();
    await card.getByLabel("Format").selectOption("flac");
    await card.getByRole("radio", { name: "Keep original" }).check();
    const output = await convertTo(workbench, card, folder);
    const hashOf = async (path: string, track: number) =>
      (await runNative(["-i", path, "-map", `0:a:${track}`, "-f", "md5", "-"])).output.toString();
    expect(await hashOf(output, 0)).toBe(await hashOf(source, 1));
  });
});
