import { NativeEncoder } from "../../../../worker/index.ts";

export { ContainerProxy, TaskObject } from "../../../../worker/index.ts";

// In place of Docker: a process of the test, which starts the native encoder with what a container would get.
function createEngine(launcher) {
  let started;
  return {
    running: false,
    start({ env, enableInternet }) {
      this.running = true;
      const body = JSON.stringify({ env, enableInternet });
      started = fetch(launcher, { method: "POST", body }).then((response) => response.text());
    },
    monitor: () => new Promise(() => {}),
    getTcpPort: () => ({
      async fetch(url, init) {
        const request = new Request(url, init);
        const { pathname, search } = new URL(request.url);
        return fetch(new Request(`${await started}${pathname}${search}`, request));
      },
    }),
    async interceptOutboundHttp() {},
    async interceptOutboundHttps() {},
    async interceptAllOutboundHttp() {},
    signal() {},
    async destroy() {},
  };
}

/** The service's own class of containers, on that engine. */
export class EncoderUnderTest extends NativeEncoder {
  constructor(ctx, env) {
    Object.defineProperty(ctx, "container", { value: createEngine(env.LAUNCHER) });
    super(ctx, env);
  }
}

/** Sends a request out as the container would, through the library's own gate, to the URL in header `To`; with `Instance`, to that container. */
// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default {
  fetch(request, env, context) {
    const to = request.headers.get("To") ?? "";
    const instance = request.headers.get("Instance");
    if (instance) return env.NATIVE.getByName(instance).fetch(new Request(to, request));
    const { name: className } = NativeEncoder;
    const props = { className, containerId: "one", enableInternet: false, interceptAll: false };
    return context.exports.ContainerProxy({ props }).fetch(new Request(to, request));
  },
};
