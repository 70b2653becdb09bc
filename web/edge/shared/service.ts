import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { RemoteClient } from "../../../src/client/index.ts";
import { type ErrorReason, MediaError } from "../../../src/index.ts";

/** What went wrong, as the visitor is told. */
export interface ServiceFault {
  readonly kind: string;
  readonly message: string;
  /** The field at fault, where one is. */
  readonly param: string | undefined;
  readonly reason?: ErrorReason | undefined;
}

/** The service that the console shows. */
export interface Service {
  readonly base_url: string;
  readonly client: RemoteClient;
  /** Gives what was thrown in words; when the service knows the key no more, the console goes back to where one connects. */
  tell(thrown: unknown): ServiceFault;
}

/** Gives the parts of the console their {@link Service}. */
export const ServiceContext = createContext<Service | null>(null);

/** Gives a part of the console its {@link Service}. */
export function useService(): Service {
  const service = useContext(ServiceContext);
  if (!service) throw new Error("There is no service around this part.");
  return service;
}

/** Gives what was thrown in words; what is no error of ours is told without its text. */
export function toFault(thrown: unknown): ServiceFault {
  if (thrown instanceof MediaError) {
    const { kind, message, param, reason } = thrown;
    return { kind, message, param, reason };
  }
  return {
    kind: "internal_error",
    message: "Something went wrong in this page. Try again.",
    param: undefined,
  };
}
