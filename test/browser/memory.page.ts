import { createMemoryStorage } from "../../src/storage/memory.ts";
import { STORAGE_CONTRACT } from "../storage/contract.ts";
import { type Cases, casesOf } from "./cases.ts";

/** The storage contract on memory storage, in a page. */
export const CASES: Cases = casesOf(STORAGE_CONTRACT, () => createMemoryStorage());
