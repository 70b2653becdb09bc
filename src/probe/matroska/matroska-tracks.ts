import { EBML, listElements, readElement, readHex, readUint } from "./ebml.ts";

/** What a track's entry in Tracks (RFC 9559, 5.1.4.1) says about its packets. */
export interface TrackEntry {
  number: number;
  /** At most eight bytes, as hexadecimal digits; tags refer to a track by it. */
  uid: string;
  kind: "video" | "audio";
  /** Frames per second of pictures declared to be evenly spaced. */
  fps: number | null;
  /** Codec delay in nanoseconds. */
  delay: number;
  /** How many packets suffice for averages. */
  enough: number;
}

const VIDEO = 1;
const AUDIO = 2;
// Evenly spaced pictures are only needed for their stream's properties.
const ENOUGH = { even: 1, uneven: 60, sound: 16 } as const;
const MAX_FPS = 1000;

/** Parses the entries of pictures and sound in a Tracks element. */
export function readTracks(bytes: Uint8Array): TrackEntry[] {
  const tracks = readElement(bytes, 0);
  if (!tracks) return [];
  return listElements(bytes, tracks.data, bytes.length)
    .filter(({ id }) => id === EBML.track)
    .flatMap(({ data, end }): TrackEntry[] => {
      const fields = listElements(bytes, data, end);
      const field = (wanted: number) => {
        const found = fields.find(({ id }) => id === wanted);
        return found ? readUint(bytes, found.data, found.end) : 0;
      };
      const number = field(EBML.track_number);
      const type = field(EBML.track_type);
      const named = fields.find(({ id }) => id === EBML.track_uid);
      const uid = named ? readHex(bytes, named) : "";
      const delay = field(EBML.codec_delay);
      if (type === AUDIO) return [{ number, uid, kind: "audio", fps: null, delay, enough: ENOUGH.sound }];
      if (type !== VIDEO) return [];
      const rate = 1e9 / field(EBML.default_duration);
      const fps = rate <= MAX_FPS ? rate : null;
      return [{ number, uid, kind: "video", fps, delay, enough: fps ? ENOUGH.even : ENOUGH.uneven }];
    });
}
