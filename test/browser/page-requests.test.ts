import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { drawSvg } from "../../src/browser/draw-svg.ts";
import type { MediaEvent } from "../../src/browser/media-api.ts";
import { createPageRequests } from "../../src/browser/media-worker/page-requests.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const [file, size] = [new Blob(["<svg/>"]), { width: 8, height: 4 }];
const { signal } = new AbortController();

function openRequests() {
  const drawings: (MediaEvent & { type: "draw" })[] = [];
  const stopped: number[] = [];
  const requests = createPageRequests((event) => {
    if (event.type === "draw") drawings.push(event);
    if (event.type === "undraw") stopped.push(event.requestId);
  });
  const draw = (stop = signal) => requests.draw(file, size, stop).catch((thrown: unknown) => thrown);
  return { drawings, stopped, draw, answer: requests.drawn };
}

test("pages draw one SVG after the other, each within 20 seconds of its own turn", async () => {
  const { drawings, stopped, draw, answer } = openRequests();
  const [first, second, third] = [draw(), draw(), draw()];
  await vi.advanceTimersByTimeAsync(19_999);
  expect(drawings).toEqual([{ type: "draw", requestId: 1, file, size }]);
  await answer(1, { result: file, error: null });
  expect(await first).toBe(file);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await second).toMatchObject({
    kind: "timeout",
    message: "The SVG takes longer than 20 seconds to draw.",
    retryable: false,
  });
  expect(stopped).toEqual([2]);
  await answer(2, { result: file, error: null });
  await answer(3, { result: null, error: { kind: "input_unsupported", message: "No.", retryable: false } });
  expect(await third).toMatchObject({ kind: "input_unsupported", message: "No.", retryable: false });
});

test("a canceled run waits neither for its turn nor for the page", async () => {
  const { drawings, stopped, draw, answer } = openRequests();
  const [one, two] = [new AbortController(), new AbortController()];
  const [first, second, third] = [draw(one.signal), draw(two.signal), draw()];
  await vi.advanceTimersByTimeAsync(1);
  two.abort("second");
  one.abort("first");
  expect([await first, await second]).toEqual(["first", "second"]);
  // The page stops drawing.
  expect(stopped).toEqual([1]);
  await vi.advanceTimersByTimeAsync(1);
  await answer(drawings.at(-1)?.requestId ?? 0, { result: file, error: null });
  expect(await third).toBe(file);
});

test("a client without a page says that it cannot draw an SVG", async () => {
  expect(await drawSvg(file, size)).toEqual({
    result: null,
    error: {
      kind: "encoder_unavailable",
      retryable: false,
      message: "Only a page can draw an SVG, and this client runs in a worker.",
    },
  });
});
