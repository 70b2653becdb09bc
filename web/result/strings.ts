export const comparison = ({ name }: { name: string }) => `${name}, before and after`;
export const dividerLabel = "Divider between before and after";
export const actualSize = "Actual size";
export const moment = "Moment";
export const formatNotShown = "This browser cannot show this format.";
export const copyAsCode = "Copy as code";
export const copy = "Copy";
export const copyCode = ({ title }: { title: string }) => `Copy ${title}`;
export const copied = "Copied";
export const copyForbidden = "The browser does not let this page copy. Select the text and copy it.";
export const noFileStorage = ({ size }: { size: string }) =>
  `This window has no file storage, as in some private windows, so at most ${size} can be downloaded at once. Choose fewer files, or open the page in another window.`;
export const folderForbidden = "The browser does not let this page save there. Choose another folder.";
export const cancel = "Cancel";
export const pageFailed = "Something went wrong in this page. Try again.";
export const diskFull = "The disk is full. Free some space and save again.";
export const writeForbidden =
  "The browser is not allowed to write there. Choose another folder, or allow it when asked.";
export const folderGone = "The folder no longer exists. Choose another.";
export const writeFailed = "The file could not be written. Choose another folder and save again.";
export const outputUnreadable =
  "A file of the output could not be read; outputs are kept for a limited time.";
export const playerOf = ({ name }: { name: string }) => `Player of ${name}`;
export const formatNotPlayed = "This browser cannot play this format. Download it to play it elsewhere.";
export const opening = "Opening…";
export const compare = "Compare with the original";
export const waveformUse = "Data for players such as wavesurfer.js and peaks.js: give them this file.";
export const dashUse = "A stream for players such as dash.js and Shaka Player: give them manifest.mpd.";
export const pictureNotShown = "This browser cannot show this format. Download it to see it elsewhere.";
export const picturesOf = ({ name }: { name: string }) => `Pictures of ${name}`;
export const atTime = ({ time }: { time: string }) => `At ${time}`;
export const firstShown = ({ limit, count }: { limit: number; count: number }) =>
  `The first ${limit} of ${count} are shown. The download has all.`;
export const download = "Download";
export const downloadAsZip = "Download as zip";
export const sendToS3 = "Send to S3";
export const saving = "Saving";
export const format = "Format";
export const codecs = "Codecs";
export const codec = "Codec";
export const picture = "Picture";
export const duration = "Duration";
export const frameRate = "Frame rate";
export const perSecond = ({ fps }: { fps: number }) => `${fps} per second`;
export const sound = "Sound";
export const audioFacts = ({ channels, rate }: { channels: string; rate: number }) =>
  `${channels}, ${rate} kHz`;
export const bitrate = "Bitrate";
export const renditions = "Renditions";
export const files = "Files";
export const made = "Made";
export const pixels = ({ width, height }: { width: number; height: number }) => `${width} × ${height} pixels`;
export const kilobits = ({ rate }: { rate: number }) => `${rate} kbit/s`;
export const fileReady = "The file is ready.";
export const needsConnection =
  "This file is at the service, which sends it through one of its own connections. Add one under Edge.";
export const access = "Access";
export const myOwnKeys = "My own keys";
export const signedByService = ({ name }: { name: string }) => `${name}, signed by the service`;
export const keysStay =
  "The keys stay in the memory of this page until it is closed. Only signatures made with them leave it.";
export const corsTitle = "What the bucket must allow";
export const corsHint = "Its CORS rules must allow this page, or the browser cannot reach it:";
export const send = "Send";
export const sending = "Sending";
export const closingStops = "Closing this dialog stops it.";
export const bucketUnreached =
  "Usually the bucket blocks this page: check its CORS rules. Some storage responds the same way to wrong keys, so check those and the endpoint too.";
export const enterBucket = "Enter the name of the bucket: lowercase letters, digits, dots and hyphens.";
export const prefixTooLong = "Make it shorter than 800 bytes.";
export const prefixHasDots = "It must not contain . or .. between slashes.";
export const enterEndpoint = "Enter the address of the storage, starting with https://, without the bucket.";
export const connectFirst = "Connect the service first, under Edge.";
export const endpoint = "Endpoint";
export const region = "Region";
export const bucket = "Bucket";
export const folderInBucket = "Folder in the bucket (optional)";
export const accessKey = "Access key";
export const secretKey = "Secret key";
export const sentTo = ({ url }: { url: string }) => `Sent to ${url}`;
export const downloadAll = "Download all";
export const saveToFolder = "Save to a folder";
export const zipReady = "The zip is ready.";
export const sides = { before: "Before", after: "After" };
export const sideOf = ({ name, side }: { name: string; side: "before" | "after" }) => `${name}, ${side}`;
export const divider = ({ percent }: { percent: number }) => `${percent} % before, ${100 - percent} % after`;
export const sameByApi = "The same by the API of a service. Put your own key in the place of";
export const sameJobByApi =
  "The same by the API of a service, with all outputs of this file. Put your own key in the place of";
export const andAddress = ", and the address of your service";
export const channels = ({ count }: { count: number }) =>
  ["mono", "stereo"][count - 1] ?? `${count} channels`;
export const soundOnly = "sound";
export const enterRegion = "Enter the region, such as us-east-1, or auto.";
export const enterAccessKey = "Enter the access key.";
export const enterSecretKey = "Enter the secret key.";
export const saved = ({ count, total }: { count: number; total: number }) =>
  count === total ? `${total} saved.` : `${count} of ${total} saved.`;
