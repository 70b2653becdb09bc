import type { EncodeKind } from "../../src/index.ts";

// These must fit a select on a phone.
const FORMAT_USES: Readonly<Record<string, string>> = {
  mp4: "plays everywhere",
  webm: "open, for websites",
  mov: "for Apple apps",
  mp3: "plays everywhere",
  aac: "a little better than MP3",
  ogg: "open format",
  opus: "best in small files",
  wav: "lossless, large",
  flac: "lossless, smaller",
  jpeg: "photos, opens everywhere",
  png: "lossless",
  webp: "smaller than JPEG",
  gif: "animations, 256 colors",
  avif: "smallest, for newer apps",
  json: "peaks for web players",
  dat: "the same, smaller",
  hls: "Safari, most players",
  dash: "dash.js, Shaka, TVs",
  hls_dash: "for all players",
};

const CODEC_USES: Readonly<Record<string, string>> = {
  h264: "plays everywhere",
  h265: "smaller, newer devices",
  vp9: "smaller, for browsers",
  av1: "smallest, takes longest",
};

const SOUND_QUALITIES: Readonly<Record<string, string>> = {
  very_low: "the lowest quality",
  low: "low quality",
  medium: "medium quality",
  high: "high quality",
};

const LIST = new Intl.ListFormat("en-GB");

export const optionsOf = ({ name }: { name: string }) => `Options of ${name}`;
export const convert = "Convert";
export const back = "Back";
export const undo = "Undo";
export const redo = "Redo";
export const options = "Options";
export const panes = {
  output: "Output",
  picture: "Picture",
  sound: "Sound",
  text: "Text & logo",
  advanced: "Advanced",
  all: "All",
} as const;
export const about = ({ size }: { size: string }) => `about ${size}`;
export const aboutTime = ({ time }: { time: string }) => `about ${time}`;
export const neverWorse = "If the result isn't smaller, you keep the original.";
export const ownSettings = "Your own settings apply, even if the result is larger.";
export const divider = "Divider between the original and the result";
export const dividerAt = ({ percent }: { percent: number }) => `${percent} % original`;
export const originalSide = "Original";
export const resultSide = "Result";
export const sizesOfFormats = "Sizes of all formats";
export const measuring = "Measuring…";
export const notMeasured = "no estimate";
export const enlarged = "This is larger than the original: the file grows, but the picture gets no sharper.";
export const device = "This device";
export const chooseFile = "Choose a file";
export const removeFile = ({ name }: { name: string }) => `Remove ${name}`;
export const edge = "Edge";
export const runsOnDevice = "Runs on this device.";
export const toRunItThere = "to run it there.";
export const connectService = "Connect a service";
export const where = "Where";
export const fileStays = "The file stays on this device.";
export const fileIsSent = ({ host }: { host: string | null | undefined }) =>
  `The file is sent to ${host ?? "the service"} and processed there.`;
export const poorQuality =
  "That is low for this size, so expect blur. A smaller width and height looks better.";
export const expectedQuality = ({ quality }: { quality: string }) =>
  `Expect about the quality of “${quality}”.`;
export const noService = "No service is connected, so this device is used. Connect under Edge.";
export const subtitleHint = "SRT, WebVTT or ASS, from a server that lets this page read it.";
export const english = "English";
export const concatHint =
  "The address of a video, whose server must let this page read it. It excludes trim, turn, crop, speed and logo.";
export const placeOfFile = "As the file says";
export const usualSize = "Usual size";
export const noBox = "No box";
/** Names of the boxes behind subtitles, by their colors. */
export const boxes: Readonly<Record<string, string>> = {
  "#000000a0": "Dark, translucent",
  "#000000": "Black",
  "#ffffffc0": "Light, translucent",
};
export const fontHint =
  "The address of a TTF or OTF font to draw the text in, or for letters that this page's fonts lack. Its server must let this page read it.";
export const textExample = "Lisbon, 2026";
export const shareOfHeight = ({ share }: { share: string }) => `${share} of the height`;
export const overlayHint = "The address of a picture, whose server must let this page read it.";
export const custom = "Custom";
export const originalSize = "Original size";
export const lengthInPixels = ({ count }: { count: number }) => `${count} pixels`;
export const shareOfWidth = ({ share }: { share: string }) => `${share} of the width`;
export const atStart = "at the start";
export const never = "never";
export const subtitleTrack = "A track to turn on and off";
export const subtitleDefault = "A track that is on";
export const subtitleBurnt = "Part of the picture";
export const shownAs = "Shown as";
export const size = "Size";
export const sizeHint = "Pixels, or a percentage such as 50 %. Leave one side empty to keep the shape.";
export const keepOriginalSize = ({ width, height }: { width: number; height: number }) =>
  `Keep original (${width} × ${height})`;
export const keepOriginal = "Keep original";
export const cropHint = "Pixels, or percentages such as 50 %.";
export const chooseBackground = "Choose the background";
export const cropX = "Crop from the left";
export const cropY = "Crop from the top";
export const cropWidth = "Crop width";
export const cropHeight = "Crop height";
export const becomes = "Becomes";
export const format = "Format";
export const codec = "Codec";
export const usualCodec = ({ name, codec }: { name: string; codec: string }) =>
  `Usual for ${name} (${codec})`;
export const notIn = ({ name }: { name: string }) => `not in ${name}`;
export const one = "One";
export const severalEvenlySpaced = "Several, evenly spaced";
export const oneEveryFewSeconds = "One every few seconds";
export const pictures = "Pictures";
export const storyboardPurpose =
  "Small pictures on sheets, with a WebVTT that players read to show them above their seek bars.";
export const points = "Points";
export const pointsForAll = "As many as show all";
export const pointEvery256Samples = "One every 256 samples";
export const presets = "Presets";
export const yourOwn = "Your own";
export const manageYourPresets = "Manage your presets";
export const yourPresets = "Your presets";
export const noPresetsLeft = "There are none left.";
export const nameOf = ({ name }: { name: string }) => `Name of ${name}`;
export const deletePreset = ({ name }: { name: string }) => `Delete ${name}`;
export const saveAsPreset = "Save as preset";
export const presetName = "Name of the preset";
export const save = "Save";
export const cancel = "Cancel";
export const fixFirst = ({ message }: { message: string }) => `Fix this first: ${message}`;
export const enterName = "Enter a name.";
export const webVideoPurpose = "MP4, up to 1080p";
export const mailPurpose = "At most 20 MB";
export const hlsPurpose = "Starts at once";
export const podcastPurpose = "MP3 for every player";
export const losslessAudioPurpose = "FLAC, lossless";
export const webPicturePurpose = "WebP, up to 1920 px";
export const thumbnailPurpose = "JPEG, up to 320 px";
export const webVideo = "Web video";
export const smallForMail = "Small for mail";
export const hlsForMySite = "HLS for my site";
export const podcastAudio = "Podcast audio";
export const losslessAudio = "Lossless audio";
export const webPicture = "Web picture";
export const thumbnail = "Thumbnail";
export const quality = "Quality";
export const bitrate = "Bitrate";
export const fileSize = "Size limit";
export const controlBy = "Aim for";
export const copied = "Copied without re-encoding.";
export const maxFileSize = ({ unit }: { unit: string }) => `Maximum file size (${unit})`;
export const maxFileSizeHint = "The bitrate follows from this and the duration.";
export const unit = "Unit";
export const videoCopied = "Copied without re-encoding; the start moves back to a keyframe.";
export const audioCopied =
  "Copied without re-encoding; a start and an end move by a few hundredths of a second.";
export const encodedWithX264 =
  "Encoded with x264, to about a third of the size that the browser's own encoder makes.";
export const gif64Colors = "64 colors in a fixed pattern: the smallest file.";
export const gif128Colors = "128 colors in a fixed pattern.";
export const gif256Colors = "256 colors in a fixed pattern.";
export const gif256ColorsSmooth = "256 colors, mixed more smoothly; a larger file.";
export const losslessQuality = ({ name }: { name: string }) =>
  `${name} is lossless, so quality changes nothing.`;
export const gifQuality = "GIF has at most 256 colors, so quality changes nothing here.";
export const flacQuality = "FLAC is lossless; a higher step makes smaller files, but takes longer.";
export const losslessBitrate = ({ name }: { name: string }) => `${name} is lossless and ignores the bitrate.`;
export const sound = "Sound";
export const asInSource = "As in the source";
export const louderOrSofter = "Louder or softer";
export const noSound = "No sound";
export const all = "All";
export const defaultTrack = "The default";
export const kinds = {
  video: "Video",
  audio: "Audio",
  image: "Picture",
  animation: "Animation",
  storyboard: "Storyboard",
  waveform: "Waveform",
  adaptive_video: "Stream for a website",
} satisfies Record<EncodeKind, string>;
export const formatUses = FORMAT_USES;
export const codecUses = CODEC_USES;
export const bitrateOutOfRange = ({ min, max }: { min: number; max: number }) =>
  `Bitrate must be a number from ${min} to ${max} kbit/s.`;
export const audioBitrateOutOfRange = ({ min, max }: { min: number; max: number }) =>
  `Bitrate of the sound must be a number from ${min} to ${max} kbit/s.`;
export const pictureShrinks = ({ width, height }: { width: number; height: number }) =>
  `the picture shrinks to ${width} × ${height}`;
export const motionDrops = ({ fps }: { fps: number }) => `motion drops to ${fps} frames per second`;
export const soundGets = ({ quality }: { quality: string }) =>
  `the sound gets ${SOUND_QUALITIES[quality] ?? quality}`;
export const toStayBelow = ({ size, changes }: { size: string; changes: readonly string[] }) =>
  `To stay below ${size}, ${LIST.format(changes)}.`;
export const original = "original";
export const originalRate = ({ fps }: { fps: number }) => `original (${fps})`;
export const streams = ({ sides }: { sides: readonly number[] }) =>
  `Streams of ${sides.map((side) => `${side}p`).join(", ")}.`;
export const pictureCount = ({ count }: { count: number }) =>
  count === 1 ? "1 picture" : `${count} pictures`;
export const sizeForecast = ({
  size,
  limit,
  now,
}: {
  size: string;
  limit: string | null;
  now: string | null;
}) =>
  `About ${size}${limit === null ? "" : `, and meant to stay below ${limit}`}${now === null ? "" : `; it is ${now} now`}.`;
export const sizeDepends = "File size depends on the content.";
export const useForAll = ({ count }: { count: number }) => `Use for all ${count} files like this`;
export const applied = ({ count }: { count: number }) =>
  count === 1 ? "Applied to the other file." : `Applied to the ${count} other files.`;
export const optionsDoNotFit = ({ name, others }: { name: string; others: number }) =>
  `Look at the options of ${name}${others > 0 ? ` and ${others} more` : ""}: they do not fit it.`;
export const pixels = ({ width, height }: { width: number; height: number }) => `${width} × ${height} pixels`;
export const decodedHere = ". Your browser can't show this format, so this page decodes the picture.";
export const notShown = ". This browser cannot show the format.";
export const bitrateRange = ({ min, max }: { min: number; max: number }) => `From ${min} to ${max}.`;
export const videoBitrateRange = ({ min, max }: { min: number; max: number }) =>
  `For the pictures; sound is extra. From ${min} to ${max}.`;
