// Prints how many tests passed and failed by the reports of Vitest and Playwright; names those that failed or passed at the second try,
// and the files that took longest, as the gate has a limit of time. What failed goes into a file of its own too.
import { appendFileSync, readFileSync } from "node:fs";

const [vitestFile, flowsFile, code, failuresFile] = process.argv.slice(2);
const read = (path) => {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
};
const late = (name, message) =>
  console.error(`PASSED AT THE SECOND TRY: ${name}: ${String(message).split("\n")[0]}`);
const failures = [];
const LINES = 12;
const fail = (name, message) =>
  failures.push(`${name}\n${String(message).split("\n").slice(0, LINES).join("\n")}`);

const vitest = read(vitestFile);
for (const { name, status: loaded, message, assertionResults } of vitest?.testResults ?? []) {
  for (const { status, fullName, failureMessages } of assertionResults) {
    if (status === "passed" && failureMessages.length > 0) late(`${name}: ${fullName}`, failureMessages[0]);
    if (status === "failed") fail(`${name}: ${fullName}`, failureMessages.at(-1));
  }
  if (loaded === "failed" && assertionResults.every(({ status }) => status !== "failed")) fail(name, message);
}
const SLOWEST = 25;
const took = ({ startTime, endTime }) => (endTime - startTime) / 1000;
const files = (vitest?.testResults ?? []).toSorted((one, other) => took(other) - took(one));
for (const file of files.slice(0, SLOWEST)) {
  console.error(`${took(file).toFixed(0).padStart(5)} s  ${file.name.replace(/^.*\/test\//, "test/")}`);
}
const flows = read(flowsFile);
const visit = (suite) => {
  for (const { title, tests } of suite.specs ?? []) {
    for (const { status, results } of tests) {
      if (status === "flaky") late(`${suite.file}: ${title}`, results[0]?.error?.message);
      if (status === "unexpected") fail(`${suite.file}: ${title}`, results.at(-1)?.error?.message);
    }
  }
  for (const inner of suite.suites ?? []) visit(inner);
};
for (const suite of flows?.suites ?? []) visit(suite);
const passed = (vitest?.numPassedTests ?? 0) + (flows?.stats.expected ?? 0) + (flows?.stats.flaky ?? 0);
const failed = (vitest?.numFailedTests ?? 0) + (flows?.stats.unexpected ?? 0);
const broken = code !== "0" || (vitest?.numPassedTests ?? 0) === 0 || (flows?.stats.expected ?? 0) === 0;
if (failed === 0 && broken && failures.length === 0)
  failures.push(`the run ended with code ${code}, and no report names a failure`);
for (const failure of failures) {
  console.error(`FAILED: ${failure}`);
  appendFileSync(failuresFile, `FAILED: ${failure}\n`);
}
console.log(passed, failed === 0 && broken ? 1 : failed);
