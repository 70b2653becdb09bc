import { HTTP_ANSWERS } from "./http-answer-cases.ts";
import type { HttpCase } from "./http-case.ts";
import { HTTP_FAULTS } from "./http-fault-cases.ts";
import { HTTP_READING } from "./http-reading-cases.ts";

/** The contract of `openHttp` with every platform's fetch. */
export const HTTP_CASES: HttpCase[] = [...HTTP_READING, ...HTTP_ANSWERS, ...HTTP_FAULTS];
