export const edit = "Edit";
export const result = "Result";
export const convert = "Convert";
export const cancel = "Cancel";
export const tryAgain = "Try again";
export const convertAgain = "Convert again";
export const moveUp = "Move up";
export const moveDown = "Move down";
export const savedAs = ({ name }: { name: string }) => `saved as ${name}`;
export const remove = "Remove";
export const sent = "Sent";
export const progress = "Progress";
export const starting = "Starting…";
export const allowAgain = ({ name }: { name: string }) => `Allow this page to read ${name} again.`;
export const chooseAgain = ({ name }: { name: string }) =>
  `The page was reloaded, and ${name} is too large to keep. Choose it again to continue.`;
export const allowReading = "Allow reading";
export const chooseFileAgain = "Choose the file again";
export const fileFor = ({ name }: { name: string }) => `File for ${name}`;
export const sendToEdge = "Send to the edge";
export const leavesDevice = ({ host }: { host: string }) => `It then leaves this device for ${host}.`;
export const becomes = "Becomes";
export const loading = "Loading…";
export const workingFor = ({ time }: { time: string }) => `Working for ${time}`;
export const realTime = ({ speed }: { speed: string }) => `${speed} real time`;
export const selectItem = ({ name }: { name: string }) => `Select ${name}`;
export const moreFor = ({ name }: { name: string }) => `More actions for ${name}`;
export const details = "Details";
export const hideDetails = "Hide details";
export const detailsOf = ({ name }: { name: string }) => `Details of ${name}`;
export const anotherOutput = "Another output";
export const save = "Save";
export const saving = "Saving…";
export const file = "File";
export const where = "Where";
export const between = ({ low, high }: { low: string; high: string }) => {
  const [number, unit] = low.split(" ");
  return unit === high.split(" ")[1] ? `${number} to ${high}` : `${low} to ${high}`;
};
export const grows = ({ factor }: { factor: number }) =>
  factor < 1.95
    ? `Gets ${Math.max(1, Math.round((factor - 1) * 100))} % larger`
    : `Gets ${Math.round(factor)} times larger`;
export const whyLarger = {
  lossless: "A lossless format can't shrink this.",
  settings: "Try a lower quality or a smaller size.",
} as const;
export const about = ({ time }: { time: string }) => `about ${time}`;
export const convertTo = ({ name, format }: { name: string; format: string }) =>
  `Convert ${name} to: ${format}`;
export const convertToTitle = "Convert to";
export const convertsTo = ({ format, count }: { format: string; count: number }) =>
  `${count === 1 ? "1 file" : `${count} files`} will be converted to ${format}.`;
export const otherUses = {
  animation: "a short loop",
  audio: "only the sound",
  image: "one picture",
  video: "a video",
  adaptive_video: "a stream for a website",
} as const;
export const originalKept = "Original kept";
