import { expect, test } from "vitest";
import { noiseSound } from "./clips.ts";
import { ALIKE_SOUND } from "./limits.ts";
import { compareSound, readSound } from "./sound.ts";

const STEREO = { channels: 2, sample_rate: 8000 };

test("sound matches itself without delay or gain", async () => {
  const sound = await readSound(await noiseSound("wav", 1), STEREO);
  expect(sound.duration).toBeCloseTo(1, 3);
  for (const echo of compareSound(sound, sound)) {
    expect(echo).toMatchObject({ lag: 0, gain: 0 });
    expect(echo.correlation).toBeCloseTo(1, 5);
  }
});

test("detects a delay, a change in loudness and swapped channels", async () => {
  const path = await noiseSound("wav", 1);
  const sound = await readSound(path, STEREO);
  const late = await readSound(path, { ...STEREO, after: ["-af", "adelay=20:all=1,volume=-6dB"] });
  for (const echo of compareSound(late, sound)) {
    expect(echo.lag).toBeCloseTo(0.02, 3);
    expect(echo.gain).toBeCloseTo(-6, 0);
    expect(echo.correlation).toBeGreaterThan(0.99);
  }
  const swapped = await readSound(path, { ...STEREO, after: ["-af", "pan=stereo|c0=c1|c1=c0"] });
  for (const echo of compareSound(swapped, sound)) expect(echo.correlation).toBeLessThan(0.5);
});

test("lossy sound from native ffmpeg passes the limit", async () => {
  const sound = await readSound(await noiseSound("wav", 1), STEREO);
  const lossy = await readSound(await noiseSound("mp3", 1), STEREO);
  for (const echo of compareSound(lossy, sound)) {
    expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    expect(Math.abs(echo.lag)).toBeLessThan(0.005);
  }
});
