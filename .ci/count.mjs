// Counts the tests of a report (test/report.ts) as "passed failed skipped". Names those that failed, in a file of their own too, and those
// that passed at the second try; lists the files that took longest, as the gate has a limit of time.
import { appendFileSync, readFileSync } from "node:fs";

const [reportFile, failuresFile] = process.argv.slice(2);
const LINES = 12;
const SLOWEST = 25;

const attempts = readFileSync(reportFile, "utf8").trim().split("\n").filter(Boolean).map(JSON.parse);
// Each part skips the tests of the other; a test that one of them ran counts.
const ran = Map.groupBy(
  attempts.filter(({ state }) => state !== "skipped"),
  ({ id }) => id,
);
const skipped = new Set(attempts.map(({ id }) => id).filter((id) => !ran.has(id)));
const last = [...ran.values()].map((tries) => tries.at(-1));
const failed = last.filter(({ state }) => state === "failed");

for (const tries of ran.values()) {
  const [{ file, name, state, error }] = tries;
  if (state === "failed" && tries.at(-1).state === "passed")
    console.error(`PASSED AT THE SECOND TRY: ${file}: ${name}: ${String(error).split("\n")[0]}`);
}
for (const { file, name, error } of failed) {
  const text = `FAILED: ${file}: ${name}\n${String(error).split("\n").slice(0, LINES).join("\n")}\n`;
  console.error(text);
  appendFileSync(failuresFile, text);
}
const byFile = Map.groupBy(attempts, ({ file }) => file);
const took = [...byFile].map(([file, all]) => ({ file, ms: all.reduce((sum, { ms }) => sum + ms, 0) }));
for (const { file, ms } of took.toSorted((one, other) => other.ms - one.ms).slice(0, SLOWEST))
  console.error(`${(ms / 1000).toFixed(0).padStart(5)} s  ${file}`);
console.log(last.length - failed.length, failed.length, skipped.size);
