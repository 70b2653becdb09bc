import { useState } from "preact/hooks";
import type { MediaInput, Source } from "../../src/index.ts";
import { clock } from "../words/quantities.ts";
import { type Media, useMedia } from "./media.ts";
import { Player, Steps, Still } from "./player.tsx";
import * as strings from "./strings.ts";
import { TimeField } from "./time-field.tsx";
import { frameAt, lastFrame, markAt, shownAt, stepBy, type Timeline } from "./timeline.ts";
import { Handle, Track } from "./track.tsx";
import "./trim.css";

interface MomentProps {
  input: MediaInput;
  source: Source;
  /** In seconds; absent for the first frame. */
  time?: number | undefined;
  /** Called without a time for the first frame. */
  onChange: (time: number | undefined) => void;
}

/** A timeline of a video, with a handle for the frame to extract. */
export function Moment(props: MomentProps) {
  const media = useMedia(props.input, props.source);
  const { timeline } = media;
  return (
    <section class="trim" aria-label={strings.moment}>
      <h2>{strings.moment}</h2>
      <Player media={media} isSound={false} />
      <Still media={media} />
      {timeline ? (
        <Time {...props} media={media} timeline={timeline} />
      ) : (
        <p class="small soft">{media.fault ?? strings.unknownLength}</p>
      )}
    </section>
  );
}

function Time({
  source,
  time,
  onChange,
  media,
  timeline,
}: MomentProps & { media: Media; timeline: Timeline }) {
  const { playback } = media;
  const { duration, fps } = timeline;
  const last = lastFrame(timeline);
  const [dragged, setDragged] = useState<number | null>(null);
  const at = Math.max(0, Math.min(last, dragged ?? time ?? 0));
  const move = (to: number, isDone = true) => {
    const next = Math.max(0, Math.min(last, to));
    setDragged(isDone ? null : next);
    playback.pause();
    playback.seek(shownAt("moment", next, timeline));
    if (isDone) onChange(next > 0 ? next : undefined);
  };
  return (
    <>
      <Track media={media} timeline={timeline} source={source}>
        <Handle
          mark="moment"
          label={strings.moment}
          time={at}
          reach={[0, last]}
          timeline={timeline}
          onMove={move}
          onUse={() => {}}
        />
      </Track>
      <div class="row">
        <Steps
          label={strings.moment}
          isSound={false}
          onStep={(steps) => move(stepBy("moment", at, steps, timeline))}
        />
      </div>
      <div class="times">
        <TimeField
          label={strings.moment}
          time={at}
          hint={fps === null ? null : strings.frame({ frame: frameAt("moment", at, timeline) })}
          faultOf={(typed) =>
            typed > duration + 0.005 ? strings.fileEndsAt({ time: clock(duration, true) }) : null
          }
          onTime={move}
          onHere={media.url === null ? null : () => move(markAt("moment", playback.time.value, timeline))}
        />
      </div>
    </>
  );
}
