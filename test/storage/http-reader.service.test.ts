import { afterAll, beforeAll, beforeEach, test } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { HTTP_CASES } from "./http-cases.ts";
import { runHttpOperation } from "./http-operations.ts";

let origin: Origin;
beforeAll(async () => {
  origin = await startOrigin();
});
beforeEach(() => origin.forget());
afterAll(() => origin.close());

test.for(HTTP_CASES)("HTTP in Node: $name", ({ judge }) =>
  judge(origin, (operation) => runHttpOperation(operation, createMemoryStorage())),
);
