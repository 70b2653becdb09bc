const KEPT = 20;

// Printed at every exit, or by the option parser before it has read -loglevel.
const NOISE =
  /^(Aborted\(|Splitting the commandline|Finished splitting|Reading option |Parsing a group|Successfully parsed|Applying option |Opening an (input|output) file|Successfully opened the file| *Last message repeated| *$)/;

const STATUS = /^(frame|size)=/;

/** The last lines that ffmpeg printed. */
export interface RunLog {
  add(line: string): void;
  /** Up to 20 lines, oldest first, without URLs. */
  readonly lines: readonly string[];
  /** The lines about the failure as one short clause; empty when there are none. */
  summary(): string;
}

export function createRunLog(): RunLog {
  const lines: string[] = [];
  return {
    add(given) {
      // ffmpeg overwrites its status line; the last state counts.
      const line = given.split("\r").findLast((state) => state !== "") ?? "";
      if (NOISE.test(line)) return;
      if (STATUS.test(line) && STATUS.test(lines.at(-1) ?? "")) lines.pop();
      lines.push(clean(line));
      if (lines.length > KEPT) lines.shift();
    },
    lines,
    summary() {
      const relevant = lines.filter((line) => !STATUS.test(line) && !line.startsWith(" "));
      return relevant.slice(-2).join("; ").slice(0, 300);
    },
  };
}

// URLs may contain secrets, and memory addresses ("[mov @ 0xe0a1c0]") mean nothing to a reader.
function clean(line: string): string {
  return line
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, "(URL)")
    .replace(/^\[([^\]@]+) @ 0x[0-9a-f]+\]/, "[$1]")
    .slice(0, 300);
}
