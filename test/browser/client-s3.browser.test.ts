import { afterAll, beforeAll, beforeEach } from "vitest";
// All share one page and one Ceph; the signing cases read what the output cases have uploaded.
import "./client-s3-output-cases.ts";
import "./client-s3-fault-cases.ts";
import "./client-s3-sign-cases.ts";
import { openFresh, startClientS3, stopClientS3 } from "./client-s3-lab.ts";

beforeAll(startClientS3);
afterAll(stopClientS3);
beforeEach(openFresh);
