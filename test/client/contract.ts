import type { ClientClauses } from "./contract-case.ts";
import { JOBS } from "./contract-jobs.ts";
import { RECORDS } from "./contract-records.ts";
import { REFUSALS } from "./contract-refusals.ts";
import { CALLS } from "./contract-run.ts";
import { RUNS } from "./contract-runs.ts";
import { WATCHES } from "./contract-watch.ts";
import { KINDS } from "./kinds/contract-kinds.ts";

export type { ClientCase } from "./contract-case.ts";

/** The contract of every client, wherever it runs tasks. */
export const CLIENT_CONTRACT: ClientClauses = [
  ...RUNS,
  ...CALLS,
  ...JOBS,
  ...RECORDS,
  ...REFUSALS,
  ...WATCHES,
  ...KINDS,
];
