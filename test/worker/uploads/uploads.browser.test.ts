import { afterAll, beforeAll } from "vitest";
// All cases share one service and one Ceph.
import "./managed-cases.ts";
import "./bucket-cases.ts";
import "./end-cases.ts";
import "./page-cases.ts";
import { startUploadLab, stopUploadLab } from "./upload-lab.ts";

beforeAll(startUploadLab);
afterAll(stopUploadLab);
