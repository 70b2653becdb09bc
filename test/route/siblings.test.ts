import { expect, test } from "vitest";
import { createLightEncoder } from "../../src/encoders/light/light.ts";
import { createNativeEncoder } from "../../src/encoders/native/native.ts";
import type { EncodeRequest } from "../../src/media/options.ts";
import type { Decision } from "../../src/media/refusal.ts";
import { describeDecision } from "../../src/media/words.ts";
import { decideEncode } from "../../src/runs/steps/decide-encode.ts";
import { createOffers } from "../../worker/run/encoders.ts";
import { video } from "./sources.ts";

const light = createLightEncoder({ fetch: async () => Response.json({ fast: true }) });
const FILM = video(1280, 720, 30, { filesize: 16_000_000 });
const large = { kind: "video", options: { height: 480 } } as const;
const small = { kind: "video", options: { height: 240 } } as const;
const still = { kind: "image", options: { format: "jpeg", start: 12 } } as const;
const sound = { kind: "audio", options: { format: "mp3" } } as const;
const copy = { kind: "video", options: {} } as const;
const impossible = { kind: "video", options: { start: 100 } } as const;

// Decides each output of a job as its task would.
function decideJob(outputs: readonly EncodeRequest[], natives = 1): Promise<Decision[]> {
  const instances = Array.from({ length: natives }, (_, at) => ({
    name: `native-${at}`,
    fetch: () => Promise.reject(new Error("Nothing is encoded.")),
  }));
  const native = createNativeEncoder({ instances });
  const offers = createOffers({ light, native, instances: natives, cores: 2, max_in_flight: 8 });
  const hosts = { encoders: [light, native], offers };
  const decided = outputs.map(async (output) => {
    const siblings = outputs.filter((other) => other !== output);
    const { decision } = await decideEncode(hosts, FILM, output, {}, siblings);
    return decision;
  });
  return Promise.all(decided);
}

test.each<{ name: string; outputs: EncodeRequest[]; natives: number; expected: string[] }>([
  { name: "one output", outputs: [small], natives: 1, expected: ["light"] },
  { name: "one output, whose work is long", outputs: [large], natives: 1, expected: ["light"] },
  {
    name: "four that the light encoder would do one after another",
    outputs: [large, small, still, sound],
    natives: 1,
    expected: ["native", "native", "light", "light"],
  },
  { name: "short ones", outputs: [still, sound], natives: 1, expected: ["light", "light"] },
  {
    name: "two of which the second makes it long",
    outputs: [large, small],
    natives: 1,
    expected: ["native", "light"],
  },
  { name: "two that both stay short", outputs: [small, sound], natives: 1, expected: ["light", "light"] },
  {
    name: "two equally long ones",
    outputs: [small, { ...small }],
    natives: 1,
    expected: ["native", "native"],
  },
  { name: "one next to a copy", outputs: [large, copy], natives: 1, expected: ["light", "light"] },
  { name: "without a native encoder", outputs: [large, small], natives: 0, expected: ["light", "light"] },
])("$name", async ({ outputs, natives, expected }) => {
  const decisions = await decideJob(outputs, natives);
  expect(decisions.map(({ encoder }) => encoder)).toEqual(expected);
});

test("the reason counts the work of all outputs on the light encoder", async () => {
  const decisions = await decideJob([large, small]);
  expect(decisions.map(describeDecision)).toEqual(["Faster here: 15 s, not 21 s.", "About 7 s of work."]);
  const [first, second] = await decideJob([large, small, still, sound]);
  expect([first?.reason, second?.reason]).toEqual([second?.reason, first?.reason]);
});

test("outputs whose pictures one run can decode are counted", async () => {
  const part = { kind: "video", options: { height: 240, codec: "h265", start: 1 } } as const;
  const h265 = { kind: "video", options: { height: 240, codec: "h265" } } as const;
  const leveled = { kind: "video", options: { height: 240, codec: "h265", normalize: true } } as const;
  const decisions = await decideJob([large, h265, { ...h265 }, part, leveled, still]);
  expect(decisions.map(({ together }) => together)).toEqual([3, 3, 3, ...[1, 2, 3].map(() => undefined)]);
});

test("an impossible output is left out, and fails by itself", async () => {
  const [own, other] = await Promise.allSettled([decideJob([large]), decideJob([impossible, large])]);
  expect([own.status, other]).toMatchObject(["fulfilled", { reason: { kind: "invalid_options" } }]);
});
