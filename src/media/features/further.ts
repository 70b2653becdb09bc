import { feature } from "../feature.ts";

// Their options, plans and graphs are still elsewhere; here is who does them.

/** Subtitles are drawn into pictures. */
export const burn = feature({
  options: {},
  fields: {},
  needed: ({ pictures }) => pictures.burn !== undefined,
  doneBy: { native: true, stock: true },
  refusal: { code: "burn", clause: (engine) => `${engine} cannot draw subtitles into pictures` },
});

/** Videos play one after the other. */
export const concat = feature({
  options: {},
  fields: {},
  needed: (plan) => plan.concat !== undefined,
  doneBy: { native: true, stock: true },
  refusal: { code: "concat", clause: () => "it cannot join videos" },
});
