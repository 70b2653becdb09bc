import { expect, test } from "vitest";
import { chooseEncoder } from "../../src/encoders/choose-encoder.ts";
import type { Encoder } from "../../src/encoders/encoder.ts";
import { createPlan } from "../../src/plan/index.ts";
import { videoSource } from "../plan/source.ts";

const encoder = (name: string, refusal: string | null = null): Encoder => ({
  name,
  can: () => refusal,
  encode: () => Promise.reject(new Error("It was not asked.")),
});
const given = videoSource();
const plan = createPlan(given, "video", { width: 80 });

test("the first encoder that can is chosen, and it is said why", () => {
  const first = encoder("first");
  const choice = chooseEncoder(
    [encoder("light", "the picture is too large"), first, encoder("second")],
    plan,
    given,
  );
  expect(choice).toEqual({
    encoder: first,
    reason: "the work fits its memory and time; not light: the picture is too large",
  });
});

test("where none can, every reason is told", () => {
  const wanted = (message: string) =>
    expect.objectContaining({ kind: "encoder_unavailable", retryable: false, message });
  expect(() =>
    chooseEncoder([encoder("light", "it is too long"), encoder("other", "it is off")], plan, given),
  ).toThrow(wanted("No encoder here can do this (light: it is too long; other: it is off)."));
  expect(() => chooseEncoder([], plan, given)).toThrow(
    wanted("No encoder here can do this (there are no encoders)."),
  );
});
