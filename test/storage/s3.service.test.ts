import { afterAll, beforeAll, test } from "vitest";
// All cases share one Ceph.
import "./s3-fault-cases.ts";
import "./s3-key-cases.ts";
import "./s3-part-cases.ts";
import "./s3-presign-cases.ts";
import "./s3-resume-cases.ts";
import "./s3-source-cases.ts";
import { STORAGE_CONTRACT } from "./contract.ts";
import { open, startS3Lab, stopS3Lab } from "./s3-lab.ts";

beforeAll(startS3Lab);
afterAll(stopS3Lab);

test.for(STORAGE_CONTRACT)("Ceph $name", ({ check }) => check(open()));
