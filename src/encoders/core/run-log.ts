const KEPT = 20;

// What the core prints at every end, and what its option parser prints before -loglevel is read.
const NOISE =
  /^(Aborted\(|Splitting the commandline|Finished splitting|Reading option |Parsing a group|Successfully parsed|Applying option |Opening an (input|output) file|Successfully opened the file| *Last message repeated| *$)/;

const STATUS = /^(frame|size)=/;

/** The last lines that a run of ffmpeg printed. */
export interface RunLog {
  add(line: string): void;
  /** Up to 20 lines, oldest first, without URLs. */
  readonly lines: readonly string[];
  /** The lines that tell what went wrong, as one short sentence part; empty when there are none. */
  summary(): string;
}

/** Creates an empty log. */
export function createRunLog(): RunLog {
  const lines: string[] = [];
  return {
    add(given) {
      // The status is written over itself; its last state counts.
      const line = given.split("\r").findLast((state) => state !== "") ?? "";
      if (NOISE.test(line)) return;
      if (STATUS.test(line) && STATUS.test(lines.at(-1) ?? "")) lines.pop();
      lines.push(clean(line));
      if (lines.length > KEPT) lines.shift();
    },
    lines,
    summary() {
      const telling = lines.filter((line) => !STATUS.test(line) && !line.startsWith(" "));
      return telling.slice(-2).join("; ").slice(0, 300);
    },
  };
}

// URLs may hold secrets, and addresses of memory ("[mov @ 0xe0a1c0]") tell a reader nothing.
function clean(line: string): string {
  return line
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, "(URL)")
    .replace(/^\[([^\]@]+) @ 0x[0-9a-f]+\]/, "[$1]")
    .slice(0, 300);
}
