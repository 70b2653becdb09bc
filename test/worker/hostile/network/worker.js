/**
 * Fetches a URL through the network by which the Worker reaches its callers' hosts; answers with the status
 * or the error.
 */
// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default {
  async fetch(request, env) {
    const url = new URL(request.url).searchParams.get("url");
    const ask = env.OUTSIDE.fetch(url, { redirect: "manual", signal: AbortSignal.timeout(3000) });
    return Response.json(
      await ask.then(
        (answer) => answer.status,
        (error) => error.message,
      ),
    );
  },
};
