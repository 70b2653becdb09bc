import type { Decision } from "../core/choice.ts";
import { OTHER_WORK } from "../core/refusal.ts";
import { describeRefusal, nameEncoder, wholeSeconds } from "./refusal-words.ts";

/** Describes in one short sentence why an encoder does the work. */
export function describeDecision({
  encoder,
  reason,
  refusals,
}: Pick<Decision, "encoder" | "reason" | "refusals">): string {
  switch (reason.code) {
    case "copied":
      return "Copied without re-encoding.";
    case "joined":
      return "The pictures are copied; only the sound is encoded.";
    case "faster": {
      const [own, other] = [reason.seconds, reason.than_seconds].map(wholeSeconds);
      if (own === other) return aboutSeconds(reason.seconds);
      const parts = reason.chunks > 1 ? `, in ${reason.chunks} parts` : "";
      return `Faster here: ${own} s, not ${other} s${parts}.`;
    }
    case "chunked":
      if (encoder !== "native") return `Encoded in ${reason.chunks} parts; a reload repeats at most one.`;
      return `Encoded in ${reason.chunks} parts, ${reason.at_once} at once.`;
    case "refused": {
      const refusal = refusals.find(({ code }) => !OTHER_WORK.has(code));
      return refusal ? `Not on ${nameEncoder(refusal.encoder)}: ${describeRefusal(refusal)}.` : "";
    }
    case "preferred":
      return reason.seconds === null
        ? "Fits the encoder's memory and time limits."
        : aboutSeconds(reason.seconds);
  }
}

function aboutSeconds(seconds: number): string {
  return `About ${wholeSeconds(seconds)} s of work.`;
}
