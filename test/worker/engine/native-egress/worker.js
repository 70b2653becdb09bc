import { NativeEncoder } from "../../../../worker/index.ts";

export { ContainerProxy, TaskObject } from "../../../../worker/index.ts";

/** Sends a request out as the container would, through the library's own gate, to the URL in header `To`. */
// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default {
  fetch(request, _env, context) {
    const { name: className } = NativeEncoder;
    const props = { className, containerId: "one", enableInternet: false, interceptAll: false };
    return context.exports
      .ContainerProxy({ props })
      .fetch(new Request(request.headers.get("To") ?? "", request));
  },
};
