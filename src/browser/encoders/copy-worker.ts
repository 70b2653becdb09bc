import { createCopyEncoder } from "../../encoders/copy.ts";
import { serveIsolated } from "./isolated-worker.ts";

serveIsolated(createCopyEncoder());
