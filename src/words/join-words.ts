/** What prevents that the pictures of a video follow those of the one before it as they are. */
export type JoinFault = "output" | "format" | "index" | "codec" | "cut" | "entry" | "different" | "many";

const FAULTS: { readonly [F in Exclude<JoinFault, "output">]: string } = {
  format: "is no MP4 or MOV with one index for the whole file",
  index: "has an index that cannot be joined, as with several tracks of pictures or turned ones",
  codec: "has pictures in a codec, or in a form of it, that cannot be joined",
  cut: "hides some of its pictures",
  entry: "does not begin with a picture that needs no other",
  different: "was encoded in another way than the input",
  many: "has more pictures than can be joined",
};

/** Describes why videos cannot be joined by copying, without a full stop. */
export function describeJoinFault({ fault, input }: { fault: JoinFault; input: number }): string {
  if (fault === "output") return "joined videos that are copied need an MP4 or MOV";
  return `${input === 0 ? "the input" : `concat.${input - 1}`} ${FAULTS[fault]}`;
}
