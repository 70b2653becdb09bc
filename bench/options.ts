import { parseArgs } from "node:util";
import { wrong } from "../worker/local/cli.ts";

/** What `npm run bench` was asked for. */
export interface BenchOptions {
  /** Names to run, in the order of the list of all. */
  names: string[];
  /** Path to write the results to as JSON; null for none. */
  json: string | null;
}

/** Reads `[--only NAME,…] [--json FILE]`; throws a MediaError that names what is wrong. */
export function parseBenchArgs(args: readonly string[], all: readonly string[]): BenchOptions {
  const { only, json } = parse(args);
  if (json === "") wrong("--json needs the path of a file.", "json");
  const asked = only?.flatMap((list) => list.split(",")).filter((name) => name !== "");
  if (asked?.length === 0) wrong(`--only needs names of: ${all.join(", ")}.`, "only");
  const unknown = asked?.filter((name) => !all.includes(name)) ?? [];
  if (unknown.length > 0) {
    wrong(`There is no benchmark ${unknown.join(", ")}; there are ${all.join(", ")}.`, "only");
  }
  return { names: all.filter((name) => !asked || asked.includes(name)), json: json ?? null };
}

function parse(args: readonly string[]) {
  const options = { only: { type: "string", multiple: true }, json: { type: "string" } } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (thrown) {
    return wrong(`${(thrown as Error).message} Use [--only NAME,…] [--json FILE].`);
  }
}
