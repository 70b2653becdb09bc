import { afterAll, beforeAll } from "vitest";
// One service and one Ceph for all of them.
import "./managed-cases.ts";
import "./bucket-cases.ts";
import "./end-cases.ts";
import "./page-cases.ts";
import { startUploadLab, stopUploadLab } from "./upload-lab.ts";

beforeAll(startUploadLab);
afterAll(stopUploadLab);
