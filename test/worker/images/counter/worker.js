// Forwards jobs to the encoder and counts them.
let jobs = 0;

// biome-ignore lint/style/noDefaultExport: it is how a Worker is written
export default {
  fetch(request, env) {
    if (new URL(request.url).pathname === "/jobs") return Response.json(jobs);
    if (request.method === "POST") jobs++;
    return env.ENCODER.fetch(request);
  },
};
