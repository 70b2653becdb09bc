import { MediaError } from "../../src/index.ts";
import type { Fault } from "./item.ts";

export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof MediaError) {
    const { kind, message, reason } = thrown;
    return { kind, message, ...(reason && { reason }) };
  }
  console.warn(thrown);
  return { kind: "internal_error", message: "Something went wrong in this page." };
}
