import { createCopyEncoder } from "../../encoders/run/copy.ts";
import { serveApart } from "./isolated-worker.ts";

serveApart(createCopyEncoder());
