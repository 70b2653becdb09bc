import type { Source } from "../core/source.ts";
import { COVER_CODECS, holdsCover, holdsTag, isDescriptive, type MetadataMode } from "../core/tags.ts";
import type { Plan } from "./plan.ts";

export function planMetadata(
  source: Source,
  format: string,
  mode: MetadataMode = "clean",
): Pick<Plan, "tags" | "cover"> {
  if (mode === "strip") return {};
  const wanted = Object.entries(source.tags ?? {}).filter(([name]) => mode === "keep" || isDescriptive(name));
  const tags = wanted.filter(([name]) => holdsTag(format, name));
  const cover = holdsCover(format)
    ? source.streams?.find(({ kind, codec }) => kind === "cover" && Object.hasOwn(COVER_CODECS, codec ?? ""))
    : undefined;
  return {
    ...(tags.length > 0 && { tags: Object.fromEntries(tags) }),
    ...(cover && { cover: cover.index }),
  };
}
