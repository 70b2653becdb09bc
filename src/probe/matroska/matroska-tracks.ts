import { EBML, listElements, readElement, readHex, readUint } from "./ebml.ts";

/** What a track's entry in Tracks (RFC 9559, 5.1.4.1) tells of its packets. */
export interface TrackEntry {
  number: number;
  /** Eight bytes at most, as hexadecimal digits; tags name a track by it. */
  uid: string;
  kind: "video" | "audio";
  /** Frames a second of pictures that are told to come evenly. */
  fps: number | null;
  /** Nanoseconds that a decoder needs before what it returns is heard. */
  delay: number;
  /** How many packets tell its averages. */
  enough: number;
}

const VIDEO = 1;
const AUDIO = 2;
// Pictures that are told to come evenly need be seen only for what their stream tells.
const ENOUGH = { even: 1, uneven: 60, sound: 16 } as const;
const MAX_FPS = 1000;

/** Reads the entries of pictures and sound out of a Tracks element. */
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
