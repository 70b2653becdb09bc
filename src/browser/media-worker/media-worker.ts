import type { MediaApi, MediaEvent } from "../media-api.ts";
import { type Port, serveOver } from "../rpc.ts";
import { compose } from "./compose.ts";

type Host = Omit<MediaApi, "open">;

// Calls that arrive before the host exists wait for it, and fail with it.
const opened = Promise.withResolvers<Host>();
opened.promise.catch(() => {});

const api: MediaApi = {
  async open(settings) {
    compose(settings, tell).then(opened.resolve, opened.reject);
    await opened.promise;
  },
  create: async (...args) => (await opened.promise).create(...args),
  get: async (...args) => (await opened.promise).get(...args),
  standing: async (...args) => (await opened.promise).standing(...args),
  list: async (...args) => (await opened.promise).list(...args),
  cancel: async (...args) => (await opened.promise).cancel(...args),
  retry: async (...args) => (await opened.promise).retry(...args),
  remove: async (...args) => (await opened.promise).remove(...args),
  files: async (...args) => (await opened.promise).files(...args),
  waiting: async (...args) => (await opened.promise).waiting(...args),
  resume: async (...args) => (await opened.promise).resume(...args),
  handle: async (...args) => (await opened.promise).handle(...args),
  usage: async (...args) => (await opened.promise).usage(...args),
  clear: async (...args) => (await opened.promise).clear(...args),
  sending: async (...args) => (await opened.promise).sending(...args),
  followed: async (...args) => (await opened.promise).followed(...args),
  createJob: async (...args) => (await opened.promise).createJob(...args),
  getJob: async (...args) => (await opened.promise).getJob(...args),
  listJobs: async (...args) => (await opened.promise).listJobs(...args),
  cancelJob: async (...args) => (await opened.promise).cancelJob(...args),
  removeJob: async (...args) => (await opened.promise).removeJob(...args),
  drawn: async (...args) => (await opened.promise).drawn(...args),
  signed: async (...args) => (await opened.promise).signed(...args),
};

const tell = serveOver<MediaApi, MediaEvent>(globalThis as unknown as Port, api);
