import { z } from "zod";
import { CLOCK, FILL_GAPS } from "../clock.ts";
import { feature, option } from "../feature.ts";
import { within } from "../fields.ts";
import { BOUNDS } from "../formats.ts";

/** Changes the speed of playback; voices keep their pitch. The timeline converts times. */
export const speed = feature({
  options: {
    speed: option({
      kinds: ["video", "audio"],
      schema: within(BOUNDS.speed, "a factor").optional().meta({
        description:
          "Playback speed as a factor: 2 plays in half the time. Voices keep their pitch; start and end are times of the source.",
        default: 1,
      }),
      default: 1,
      alone: true,
      choices: [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 4],
      words: {
        label: "Speed",
        choice: (factor = 1) => (factor === 1 ? "As in the source" : `${factor} times`),
        hint: (factor = 1) => (factor === 1 ? undefined : "Voices keep their pitch."),
      },
    }),
  },
  summary: ({ speed: factor = 1 }) => (factor === 1 ? null : `${factor} times as fast`),
  fields: { speed: z.number().min(0.01).max(100).exactOptional() },
  part: "plan",
  isNeeded: ({ speed: factor, audio }) => factor !== undefined && audio !== null,
  doneBy: { native: true, stock: true, webcodecs: true },
  refusal: { code: "tempo", clause: () => "it cannot change the speed of sound" },
  stage: "retime",
  pictures: ({ speed: factor = 1 }) => (factor === 1 ? [] : [`settb=1/${CLOCK}`, `setpts=PTS/${factor}`]),
  sound: ({ speed: factor = 1 }) =>
    factor === 1
      ? []
      : [
          // atempo ignores gaps and starts at the time of its first sample.
          FILL_GAPS,
          ...tempos(factor).map((tempo) => `atempo=${tempo}`),
          `asetpts=PTS+round(STARTPTS*${1 / factor - 1})`,
        ],
});

// Beyond twice or half the speed in one step, atempo skips or repeats too many samples.
function tempos(factor: number): number[] {
  if (factor > 2) return [2, factor / 2];
  return factor < 0.5 ? [0.5, factor / 0.5] : [factor];
}
