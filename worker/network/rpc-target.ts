import { RpcTarget } from "cloudflare:workers";

/** Makes the methods of an object callable over RPC, which offers only those of a prototype. */
export function toTarget<T extends object>(methods: T): T & RpcTarget {
  class Target extends RpcTarget {}
  Object.assign(Target.prototype, methods);
  return new Target() as RpcTarget & T;
}
