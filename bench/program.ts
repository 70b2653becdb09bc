import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { runMain } from "../worker/local/cli.ts";
import type { Benchmark, Result } from "./benchmark.ts";
import { RUNS, runBenchmark } from "./measure.ts";
import { parseBenchArgs } from "./options.ts";
import { formatJson, formatTable } from "./report.ts";

/** Runs the benchmarks selected on the command line and prints the results; one that fails does not stop the others. */
export function runProgram(benchmarks: readonly Benchmark[]): void {
  runMain(async () => {
    const options = parseBenchArgs(
      process.argv.slice(2),
      benchmarks.map(({ name }) => name),
    );
    // Ending on a signal must run the exit handlers, which delete temporary files.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(1));
    const rounds = options.rounds ?? RUNS;
    const results: Result[] = [];
    for (const benchmark of benchmarks.filter(({ name }) => options.names.includes(name))) {
      console.error(`${benchmark.name} …`);
      try {
        results.push(await runBenchmark(benchmark, rounds));
      } catch (thrown) {
        process.exitCode = 1;
        console.error(
          `${benchmark.name} failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        );
      }
    }
    const cpu = cpus();
    console.log(`${cpu.length} × ${cpu[0]?.model ?? "CPU"}, medians of ${rounds} rounds after a warm-up\n`);
    console.log(formatTable(results));
    if (options.json) await writeFile(options.json, formatJson(results));
  });
}
