import { parseArgs } from "node:util";
import { MediaError } from "../src/media/errors.ts";

/** The command-line options of `npm run bench`. */
interface BenchOptions {
  /** Benchmarks to run, in the order of the full list. */
  names: string[];
  /** Path of the JSON file for the results; null for none. */
  json: string | null;
  /** Measured rounds of every benchmark; null for the default. */
  rounds: number | null;
}

/** Throws the {@link MediaError} for a wrong argument, or for a program or file that a benchmark needs. */
export function usageError(message: string, param?: string): never {
  throw new MediaError("request_invalid", message, { param });
}

/** Parses `[--only NAME,…] [--json FILE] [--rounds N]`; throws a MediaError that names the problem. */
export function parseBenchArgs(args: readonly string[], all: readonly string[]): BenchOptions {
  const { only, json, rounds } = parse(args);
  if (rounds !== undefined && !/^[1-9]\d?$/.test(rounds))
    usageError("--rounds needs a number from 1 to 99.", "rounds");
  if (json === "") usageError("--json needs the path of a file.", "json");
  const selected = only?.flatMap((list) => list.split(",")).filter((name) => name !== "");
  if (selected?.length === 0) usageError(`--only needs names of: ${all.join(", ")}.`, "only");
  const unknown = selected?.filter((name) => !all.includes(name)) ?? [];
  if (unknown.length > 0) {
    usageError(`There is no benchmark ${unknown.join(", ")}; there are ${all.join(", ")}.`, "only");
  }
  return {
    names: all.filter((name) => !selected || selected.includes(name)),
    json: json ?? null,
    rounds: rounds ? Number(rounds) : null,
  };
}

const USAGE = "[--only NAME,…] [--json FILE] [--rounds N]";

function parse(args: readonly string[]) {
  const options = {
    only: { type: "string", multiple: true },
    json: { type: "string" },
    rounds: { type: "string" },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (thrown) {
    return usageError(`${(thrown as Error).message} Use ${USAGE}.`);
  }
}
