import { createMemoryStorage } from "../../src/storage/memory.ts";
import { STORAGE_CONTRACT } from "../storage/contract.ts";
import { type Cases, casesOf } from "./cases.ts";

/** The contract of storage on memory, in a page. */
export const CASES: Cases = casesOf(STORAGE_CONTRACT, createMemoryStorage);
