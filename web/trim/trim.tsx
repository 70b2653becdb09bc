import { useState } from "preact/hooks";
import type { MediaInput, Source } from "../../src/index.ts";
import { Icon } from "../ui/icon.tsx";
import { clock } from "../words/quantities.ts";
import { type Media, useMedia } from "./media.ts";
import { Player, Steps, Still } from "./player.tsx";
import * as strings from "./strings.ts";
import { TimeField } from "./time-field.tsx";
import {
  type Edge,
  type Edges,
  edgesOf,
  faultOf,
  frameAt,
  markAt,
  moveEdge,
  type Range,
  rangeOf,
  reachOf,
  shownAt,
  stepBy,
  type Timeline,
} from "./timeline.ts";
import { Handle, Track } from "./track.tsx";
import "./trim.css";

export type { Range };

const LABELS = { begin: strings.start, end: strings.end } as const satisfies Record<Edge, string>;
const EDGES = ["begin", "end"] as const satisfies Edge[];

interface TrimProps {
  input: MediaInput;
  source: Source;
  range: Range;
  onChange: (range: Range) => void;
}

/** A timeline of a file, with handles for where the output begins and ends. */
export function Trim(props: TrimProps) {
  const media = useMedia(props.input, props.source);
  const { timeline } = media;
  return (
    <section class="trim" aria-label={strings.trim}>
      <h2>{strings.trim}</h2>
      <Player media={media} isSound={props.source.kind === "audio"} />
      <Still media={media} />
      {timeline ? (
        <Times {...props} media={media} timeline={timeline} />
      ) : (
        <p class="small soft">{media.fault ?? strings.unknownLength}</p>
      )}
    </section>
  );
}

function Times({
  source,
  range,
  onChange,
  media,
  timeline,
}: TrimProps & { media: Media; timeline: Timeline }) {
  const { playback } = media;
  const { fps } = timeline;
  const [lastEdge, setLastEdge] = useState<Edge>("begin");
  const [dragged, setDragged] = useState<Edges | null>(null);
  const edges = dragged ?? edgesOf(range, timeline);
  const move = (edge: Edge, time: number, isDone = true) => {
    const next = moveEdge(edges, edge, time, timeline);
    setLastEdge(edge);
    setDragged(isDone ? null : next);
    playback.pause();
    playback.seek(shownAt(edge, next[edge], timeline));
    if (isDone) onChange(rangeOf(next, timeline));
  };
  const isWhole = range.start === undefined && range.end === undefined;
  const isPlaying = playback.isPlaying.value;
  return (
    <>
      <Track media={media} timeline={timeline} source={source}>
        <span
          class="range"
          style={{ "--begin": edges.begin / timeline.duration, "--end": edges.end / timeline.duration }}
        />
        {EDGES.map((edge) => (
          <Handle
            key={edge}
            mark={edge}
            label={LABELS[edge]}
            time={edges[edge]}
            reach={reachOf(edge, edges, timeline)}
            timeline={timeline}
            onMove={(time, isDone) => move(edge, time, isDone)}
            onUse={() => setLastEdge(edge)}
          />
        ))}
      </Track>
      <div class="row">
        {media.url !== null && (
          <button
            type="button"
            onClick={() => (isPlaying ? playback.pause() : playback.play(edges.begin, edges.end))}
          >
            <Icon name={isPlaying ? "pause" : "play"} />
            {isPlaying ? strings.pause : strings.playPart}
          </button>
        )}
        <Steps
          label={LABELS[lastEdge]}
          isSound={fps === null}
          onStep={(steps) => move(lastEdge, stepBy(lastEdge, edges[lastEdge], steps, timeline))}
        />
        <span class="range-duration soft numbers">
          {strings.keeps({ time: clock(edges.end - edges.begin, true) })}
        </span>
        <button type="button" class="quiet" disabled={isWhole} onClick={() => onChange({})}>
          <Icon name="refresh" />
          {strings.reset}
        </button>
      </div>
      <div class="times">
        {EDGES.map((edge) => (
          <TimeField
            key={edge}
            label={LABELS[edge]}
            time={edges[edge]}
            hint={
              fps === null
                ? null
                : (edge === "begin" ? strings.firstFrame : strings.lastFrame)({
                    frame: frameAt(edge, edges[edge], timeline),
                  })
            }
            faultOf={(time) => faultOf(edge, time, edges, timeline)}
            onTime={(time) => move(edge, time)}
            onHere={media.url === null ? null : () => move(edge, markAt(edge, playback.time.value, timeline))}
          />
        ))}
      </div>
    </>
  );
}
