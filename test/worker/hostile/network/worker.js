/** Tells what a URL answers by the network that the service Worker reaches its callers' hosts by; null for no answer. */
// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default {
  async fetch(request, env) {
    const answer = await env.OUTSIDE.fetch(new URL(request.url).searchParams.get("url")).catch(() => null);
    return Response.json(answer ? answer.status : null);
  },
};
