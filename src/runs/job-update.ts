import { z } from "zod";
import { Job } from "./job.ts";

/** The data of an event of `GET /jobs/{id}/events`. */
export const JobUpdate = z
  .object({
    record: Job,
    progress: z.int().min(0).max(100).nullable().meta({
      description: "Percent of all its tasks together; null until it can be measured.",
    }),
    eta: z.number().nullable().meta({
      description: "Seconds until the last task ends; null until known of all that are not finished.",
    }),
  })
  .meta({ id: "JobUpdate" });
/** A change of a job. */
export type JobUpdate = z.infer<typeof JobUpdate>;
