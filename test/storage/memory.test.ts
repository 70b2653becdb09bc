import { test } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { STORAGE_CONTRACT } from "./contract.ts";

test.for(STORAGE_CONTRACT)("memory storage $name", ({ check }) => check(createMemoryStorage()));
