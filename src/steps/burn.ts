import { MediaError } from "../core/errors.ts";
import type { EncodeRequest } from "../core/options.ts";
import type { StepContext } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { burnText } from "../encoders/subtitles/burn-text.ts";
import { burntInput, firstSubtitles } from "../media/features/subtitles.ts";
import type { Plan } from "../plan/plan.ts";
import { naming } from "./further.ts";
import { furtherKey, runFolder } from "./media-keys.ts";
import type { StepTools } from "./step-tools.ts";

type BurnTools = Pick<StepTools, "storage" | "open" | "font">;

/** Returns the keys of the files that encoders read beside a plan's source, once those of burnt-in subtitles are written. */
export async function furtherKeys(
  tools: BurnTools,
  { plan, source, wanted }: { plan: Plan; source: Source; wanted: EncodeRequest },
  context: StepContext,
): Promise<string[]> {
  const { run_id } = context;
  const folder = `${runFolder("work", run_id)}burn/`;
  const own = { subtitles: `${folder}text.ass`, font: `${folder}font.ttf` } as const;
  const asked = "subtitles" in wanted.options ? wanted.options : {};
  const burnt = burntInput(asked);
  if (burnt !== null) {
    await context.durably("burn", async (signal) => {
      const [reader, font] = await Promise.all([tools.open(furtherKey(run_id, burnt)), loadFont(tools)]);
      const at = burnt - firstSubtitles(asked);
      const text = await burnText({ reader, plan, source, font, signal }).catch((thrown: unknown) => {
        signal.throwIfAborted();
        throw naming(`options.subtitles.${at}.url`, thrown);
      });
      await tools.storage.write(own.subtitles, text, "text/x-ssa");
      await tools.storage.write(own.font, font, "font/ttf");
      return null;
    });
  }
  return (plan.further ?? []).map(({ role }, at) =>
    role === "subtitles" || role === "font" ? own[role] : furtherKey(run_id, at),
  );
}

async function loadFont({ font }: BurnTools): Promise<Uint8Array> {
  if (font) return font();
  throw new MediaError("encoder_unavailable", "There is no font here to draw subtitles with.");
}
