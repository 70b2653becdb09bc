// Passes requests on to the encoder, until the next job kills it: from then on nothing is answered before it is back.
let state = "there";
const jobs = { sent: 0, lost: 0 };

// biome-ignore lint/style/noDefaultExport: it is how a Worker is written
export default {
  fetch(request, env) {
    const { hostname, pathname } = new URL(request.url);
    if (hostname === "away") {
      if (request.method === "PUT") state = pathname.slice(1);
      return Response.json(jobs);
    }
    if (request.method === "POST") jobs.sent++;
    if (request.method === "POST" && state === "dies") state = "away";
    if (state !== "away") return env.ENCODER.fetch(request);
    if (request.method === "POST") jobs.lost++;
    throw new Error("The encoder is away.");
  },
};
