import { BENCHMARKS } from "./list.ts";
import { runProgram } from "./program.ts";

// npm run bench -- [--only NAME,…] [--json FILE] [--rounds N]
runProgram(BENCHMARKS);
