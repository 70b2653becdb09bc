import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { runMain } from "../worker/local/cli.ts";
import type { Result } from "./benchmark.ts";
import { BENCHMARKS } from "./list.ts";
import { RUNS, runBenchmark } from "./measure.ts";
import { parseBenchArgs } from "./options.ts";
import { formatJson, formatTable } from "./report.ts";

// npm run bench -- [--only NAME,…] [--json FILE]
runMain(async () => {
  const options = parseBenchArgs(
    process.argv.slice(2),
    BENCHMARKS.map(({ name }) => name),
  );
  // An end by signal goes through the exit handlers, which remove what was written.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(1));
  const results: Result[] = [];
  for (const benchmark of BENCHMARKS.filter(({ name }) => options.names.includes(name))) {
    console.error(`${benchmark.name} …`);
    try {
      results.push(await runBenchmark(benchmark));
    } catch (thrown) {
      process.exitCode = 1;
      console.error(`${benchmark.name} failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  }
  const cpu = cpus();
  console.log(`${cpu.length} × ${cpu[0]?.model ?? "CPU"}, medians of ${RUNS} rounds after a warm-up\n`);
  console.log(formatTable(results));
  if (options.json) await writeFile(options.json, formatJson(results));
});
