import { MediaError, type MediaErrorOptions } from "../../media/errors.ts";

interface Cause {
  cause: unknown;
}

/** Why a body broke off: the end of the message of `brokenOff`. */
export const breaks = {
  endedEarly: () => "the body ended early",
  connectionLost: () => "the connection was lost",
  notAnsweredAgain: () => "the source did not answer again",
  silent: ({ seconds }: { seconds: number }) => `nothing came for ${seconds} s`,
};

// These name only the host of a URL, because the rest may be secret.

export const hostPrivate = ({ host }: { host: string }) =>
  new MediaError("input_forbidden", `The host ${host} is not public; use a public address.`);
export const addressPrivate = ({ host }: { host: string }) =>
  new MediaError("input_forbidden", `The host ${host} has an address that is not public; use a public one.`);
export const urlMalformed = () => new MediaError("input_forbidden", "The source's address is not a URL.");
export const urlNotHttp = ({ protocol }: { protocol: string }) =>
  new MediaError("input_forbidden", `The source must be http or https, not ${protocol}`);
export const urlWithUser = () =>
  new MediaError("input_forbidden", "The source's URL must not contain a user name or password.");

export const notFound = ({ url, status }: { url: string; status: number }) =>
  new MediaError("input_not_found", `There is no such file at ${hostOf(url)} (it answered ${status}).`);
export const forbidden = ({ url, status }: { url: string; status: number }) =>
  new MediaError("input_forbidden", `${hostOf(url)} refuses access to the source (it answered ${status}).`);
export const failed = ({ url, status, retryable }: { url: string; status: number; retryable: boolean }) =>
  unreachable(url, `answered ${status}`, { retryable });
export const noAnswer = ({ url, cause }: { url: string } & Cause) => {
  const host = hostOf(url);
  return new MediaError("input_unreachable", `The source at ${host} could not be reached.`, {
    cause,
    reason: { code: "no_answer", from: "source", host },
  });
};
export const headersLate = ({ url, seconds, cause }: { url: string; seconds: number } & Cause) =>
  unreachable(url, `did not answer within ${seconds} s`, { retryable: true, cause });
export const redirectLoop = ({ url }: { url: string }) =>
  unreachable(url, "redirects in a loop", { retryable: false });
export const tooManyRedirects = ({ url, max }: { url: string; max: number }) =>
  unreachable(url, `redirects more than ${max} times`, { retryable: false });
export const redirectEmpty = ({ url }: { url: string }) =>
  unreachable(url, "redirects to nowhere", { retryable: false });
export const noRanges = ({ url }: { url: string }) =>
  unreachable(url, "gives no ranges", { retryable: false });
export const rangeNotGiven = ({ url }: { url: string }) =>
  unreachable(url, "did not give the range it was asked for", { retryable: true });

export const rangeNotSent = ({ url }: { url: string }) =>
  unreachable(url, "did not send the requested range", { retryable: true });
export const changed = ({ url }: { url: string }) =>
  unreachable(url, "changed while it was being read", { retryable: true });
export const pinnedChanged = () =>
  new MediaError(
    "input_changed",
    "The source changed while it was in use; start again to process its current version.",
  );
export const sizeChanged = ({ url, first, second }: { url: string; first: number; second: number | null }) =>
  unreachable(url, `declared first ${first} and then ${second} bytes`, { retryable: true });
export const bodyTooLong = ({ url, size }: { url: string; size?: number }) =>
  unreachable(url, `sent more than ${size === undefined ? "" : `the ${size} bytes `}it declared`, {
    retryable: true,
  });
export const bodyTooShort = ({ url, received, size }: { url: string; received: number; size: number }) =>
  unreachable(url, `sent ${received} of ${size} bytes`, { retryable: true });
export const brokenOff = ({
  url,
  received,
  size,
  broken,
}: {
  url: string;
  received: number;
  size: number | null;
  broken: Error;
}) =>
  unreachable(
    url,
    `broke off after ${received}${size === null ? "" : ` of ${size}`} bytes: ${broken.message}`,
    { retryable: true, cause: broken },
  );
export const tooLarge = ({ size, maxBytes }: { size: number; maxBytes: number }) =>
  new MediaError("input_too_large", `The source has ${size} bytes; no more than ${maxBytes} are allowed.`);
export const tooLargeUndeclared = ({ maxBytes }: { maxBytes: number }) =>
  new MediaError("input_too_large", `The source has more than the ${maxBytes} bytes allowed.`);
export const timeout = ({ seconds }: { seconds: number }) =>
  new MediaError("timeout", `Fetching the source took longer than ${seconds} s.`);

export const outputNoAnswer = ({ url, cause }: { url: string } & Cause) => {
  const host = hostOf(url);
  return new MediaError("upload_failed", `The output's store at ${host} could not be reached.`, {
    cause,
    reason: { code: "no_answer", from: "output", host },
  });
};
export const outputAnswerInvalid = ({ url, cause }: { url: string } & Cause) =>
  new MediaError("upload_failed", `The output's store at ${hostOf(url)} sent no valid response.`, {
    cause,
  });
export const outputFull = ({ url, message }: { url: string; message: string }) =>
  new MediaError("storage_full", `The output's store at ${hostOf(url)} is full${ending(message)}`);
export const outputForbidden = ({ url, status, message }: { url: string; status: number; message: string }) =>
  new MediaError(
    "upload_forbidden",
    `${hostOf(url)} refuses the output (it answered ${status})${ending(message)}`,
  );
export const outputRefused = ({
  url,
  status,
  message,
  retryable,
}: {
  url: string;
  status: number;
  message: string;
  retryable: boolean;
}) =>
  new MediaError(
    "upload_failed",
    `${hostOf(url)} did not accept the output (it answered ${status})${ending(message)}`,
    { retryable },
  );

function unreachable(
  url: string,
  clause: string,
  options: Pick<MediaErrorOptions, "retryable" | "cause">,
): MediaError {
  return new MediaError("input_unreachable", `The source at ${hostOf(url)} ${clause}.`, options);
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "the given address";
}

function ending(message: string): string {
  return message ? `: ${message}` : ".";
}
