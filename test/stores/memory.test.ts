import { test } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { createMemoryStore } from "../../src/stores/memory.ts";
import { STORE_CONTRACT } from "./contract.ts";

test.for(STORE_CONTRACT)("memory store $name", ({ check }) => check(createMemoryStore<Task>()));
