import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { runProgram } from "./run-program.ts";

const { program } = workerData as { program: string };
parentPort?.postMessage(runProgram(new WebAssembly.Module(readFileSync(program))));
