import { NativeEncoder } from "../../../../worker/index.ts";

export { ContainerProxy, TaskObject } from "../../../../worker/index.ts";

type Entry = (options: { props: object }) => { fetch(request: Request): Promise<Response> };

/** Sends a request out as the container would, through the library's own gate; `To` names where it goes. */
export default {
  fetch(request: Request, _env: unknown, context: { exports: { ContainerProxy: Entry } }): Promise<Response> {
    const { name: className } = NativeEncoder;
    const props = { className, containerId: "one", enableInternet: false, interceptAll: false };
    return context.exports
      .ContainerProxy({ props })
      .fetch(new Request(request.headers.get("To") ?? "", request));
  },
};
