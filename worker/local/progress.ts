import type { Task } from "../../src/runs/task.ts";

/** Shows the progress of a task. */
export interface Progress {
  show(task: Task): void;
  /** Ends the line that is being drawn. */
  end(): void;
}

const WIDTH = 24;
const MARKS = { waiting: "·", processing: "…", succeeded: "✓", failed: "✗", cancelled: "-" } as const;

/** Creates a progress bar, redrawn in place on a terminal; other streams get a line for every 10 %. */
export function createProgress(out: NodeJS.WriteStream = process.stdout): Progress {
  let started = 0;
  let last = "";
  return {
    show(task) {
      started ||= Date.now();
      const steps = task.steps.map((step) => `${step.kind} ${MARKS[step.status]}`).join("  ");
      const percent = percentOf(task);
      if (out.isTTY) {
        const filled = Math.round((percent / 100) * WIDTH);
        const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled);
        const seconds = ((Date.now() - started) / 1000).toFixed(1);
        last = `${bar} ${String(percent).padStart(3)}%  ${steps}  ${seconds} s`;
        out.write(`\r\x1b[K${last.slice(0, out.columns - 1)}`);
        return;
      }
      const line = `${String(percent - (percent % 10)).padStart(3)}%  ${steps}`;
      if (line !== last) out.write(`${line}\n`);
      last = line;
    },
    end() {
      if (out.isTTY && last) out.write("\n");
    },
  };
}

/** Returns a task's progress in percent; the encode weighs as much as all other steps together, which weigh the same. */
export function percentOf(task: Task): number {
  const weights = task.steps.map(({ kind }) => (kind === task.kind ? task.steps.length - 1 : 1));
  const done = task.steps.map(({ progress }, index) => (progress ?? 0) * (weights[index] ?? 0));
  const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
  return Math.floor(sum(done) / sum(weights));
}
