import { INPUT_ROLES } from "../../core/further/further-inputs.ts";

/** What a file beside the source is for: that of an option, or the font of burnt-in subtitles. */
export const FILE_ROLES = [...INPUT_ROLES, "font"] as const;
