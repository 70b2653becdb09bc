import { afterAll, beforeAll, beforeEach } from "vitest";
// One page and one Ceph for all of them; those that sign read what the outputs have put.
import "./client-s3-output-cases.ts";
import "./client-s3-fault-cases.ts";
import "./client-s3-sign-cases.ts";
import { openFresh, startClientS3, stopClientS3 } from "./client-s3-lab.ts";

beforeAll(startClientS3);
afterAll(stopClientS3);
beforeEach(openFresh);
