import { createCopyEncoder } from "../encoders/copy.ts";
import { serveApart } from "./apart-worker.ts";

serveApart(createCopyEncoder());
