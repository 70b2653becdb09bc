import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { RemoteClient } from "../../../src/client/index.ts";
import { type ErrorReason, MediaError } from "../../../src/index.ts";

export interface ServiceFault {
  readonly kind: string;
  readonly message: string;
  readonly param: string | undefined;
  readonly reason?: ErrorReason | undefined;
}

export interface Service {
  readonly base_url: string;
  readonly client: RemoteClient;
  /** Converts an error to words. When the service no longer accepts the key, the console also returns to the connect form. */
  tell(thrown: unknown): ServiceFault;
}

export const ServiceContext = createContext<Service | null>(null);

export function useService(): Service {
  const service = useContext(ServiceContext);
  if (!service) throw new Error("There is no ServiceContext around this component.");
  return service;
}

/** Converts an error to words; errors other than MediaError keep their text to themselves. */
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
