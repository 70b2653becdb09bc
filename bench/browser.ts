import { BROWSER_BENCHMARKS } from "./browser/list.ts";
import { runProgram } from "./program.ts";

// npm run bench:browser -- [--only NAME,…] [--json FILE] [--rounds N]
runProgram(BROWSER_BENCHMARKS);
