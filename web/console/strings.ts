export const name = "Name";
export const byDefault = "Default";
export const storage = "Storage";
export const storageAccess = ({ region, access_key_id }: { region: string; access_key_id: string }) =>
  `${region} · key ${access_key_id}`;
export const changed = "Changed";
export const connections = "Connections";
export const connectionsPurpose =
  "Storage of your own (S3), for inputs and destinations that begin with s3://.";
export const newConnection = "New connection";
export const noConnections =
  "There are no connections yet. Add one with “New connection”, and tasks can read from and write to your own bucket.";
export const connectionDeletion = ({ name }: { name: string }) =>
  `The service forgets the keys of ${name}. Tasks that need it fail from then on; what is in the storage stays.`;
export const deleteConnection = "Delete this connection?";
export const remove = "Delete";
export const test = "Test";
export const makeDefault = "Make default";
export const edit = "Edit";
export const editConnection = ({ name }: { name: string }) => `Edit ${name}`;
export const bucketInUrls = "Bucket in URLs";
export const bucketInUrlsHint = "Most storage works with the default.";
export const secret = "Secret";
export const secretKept = "Leave it empty to keep the stored one.";
export const secretHint = "It is stored encrypted, and never shown again.";
export const signedRequests = "Signed requests";
export const signedRequestsHint =
  "What pages without the keys may do, one rule a line, such as GET,PUT my-bucket/films/. Leave it empty for nothing.";
export const save = "Save";
export const create = "Create";
export const saving = "Saving…";
export const testConnection = ({ name }: { name: string }) => `Test ${name}`;
export const connectionTest = "The service writes a small object there, reads it back and deletes it.";
export const bucket = "Bucket";
export const folderOptional = "Folder (optional)";
export const connectionWorks = "It works: an object was written, read and deleted.";
export const testing = "Testing…";
export const done = "Done";
export const cancel = "Cancel";
export const invalidSigningRule = ({ methods }: { methods: string }) =>
  `Write each line as GET,PUT my-bucket/films/, with ${methods} or several of them.`;
export const inPath = "In the path";
export const inHostName = "In the host name";
export const connectionNameHint = "Any name, such as Archive.";
export const endpoint = "Endpoint";
export const endpointHint =
  "The address of the storage, without a bucket, such as https://s3.eu-central-1.amazonaws.com.";
export const region = "Region";
export const regionHint = "Such as eu-central-1; auto on R2.";
export const keyId = "Key id";
export const keyIdHint = "The public part of the access key.";
export const tasks = "Tasks";
export const webhooks = "Webhooks";
export const keys = "Keys";
export const reconnecting = "Reconnecting…";
export const theService = "The service";
export const checking = "Checking…";
export const connected = "Connected";
export const notResponding = "Not responding";
export const apiReference = "API reference";
export const disconnect = "Disconnect";
export const connectService = "Connect a service";
export const servicePurpose =
  "A Framewright service runs what is too heavy for this device, and keeps tasks going while the page is closed. Here you see and manage all of it.";
export const address = "Address";
export const addressHint = "Where the service is, such as https://media.example.com.";
export const insecureAddress =
  "Over http, others can read the key and your media in transit. Use https where you can.";
export const key = "Key";
export const keyHint =
  "From the operator of the service. It is kept only in this browser and sent only to this service.";
export const connect = "Connect";
export const connecting = "Connecting…";
export const actionFailed = ({ label }: { label: string }) => `${label} failed`;
export const close = "Close";
export const keep = "Keep";
export const secretShownOnce = "It is shown only once. Store it where only those who need it can read it.";
export const secretGuard = "Copy or save it first: it can't be shown again.";
export const copy = "Copy";
export const saveAsEnv = "Save as .env";
export const copied = "Copied";
export const today = "Today";
export const copyYourself = "Select and copy it yourself";
export const waitingForTurn = "Waiting for its turn";
export const waiting = "Waiting";
export const converting = "Converting";
export const failed = "Failed";
export const cancelled = "Cancelled";
export const trying = "Trying";
export const delivered = "Delivered";
export const gaveUp = "Gave up";
export const active = "Active";
export const paused = "Paused";
export const may = "May";
export const lastUsed = "Last used";
export const created = "Created";
export const id = "Id";
export const keyLacksScope =
  "The key that this page is connected with may not manage keys: it lacks the scope";
export const connectWithAnotherKey =
  ". Connect with one that has it, or ask the person who runs the service.";
export const keysPurpose = "The keys of this project. Those in the settings of the service are not listed.";
export const newKey = "New key";
export const noKeys = "There are no keys yet. Create one for each page or program that uses the service.";
export const roll = "Roll";
export const revoke = "Revoke";
export const theKey = "The key";
export const keyUse = "Send it as “Bearer” in the Authorization header, or pass it to a client as apiKey.";
export const keyRoll =
  "The key gets a new secret. The current one stays valid for one more day, so that you can replace it everywhere.";
export const rollKey = ({ name }: { name: string }) => `Roll ${name}?`;
export const keyRevocation = "It stops working within five seconds. This can't be undone.";
export const revokeKey = ({ name }: { name: string }) => `Revoke ${name}?`;
export const keyNameHint = "Who or what uses it, such as Web shop.";
export const itMay = "It may";
export const creating = "Creating…";
export const never = "Never";
export const scopeRead = "See tasks, files and settings";
export const scopeWrite = "Create, change and delete them";
export const scopeAdmin = "Manage keys and see the service's metrics";
export const scopeSign = "Sign requests to your storage, for pages without its keys";
export const scopeConnections = "Create, change and delete connections";
export const newTask = "New task";
export const source = "Source";
export const sourceHint = "A URL that the service can fetch: https://, http:// or s3://.";
export const output = "Output";
export const format = "Format";
export const keepOriginal = "Keep original";
export const quality = "Quality";
export const destinationOptional = "Destination (optional)";
export const webhookOptional = "Webhook (optional)";
export const webhookHint = "An https:// URL that receives updates about the task.";
export const enterFullAddress = "Enter a full address that starts with https://, http:// or s3://.";
export const storedThrough = ({ name }: { name: string }) => `It is stored through the connection “${name}”.`;
export const needsConnection = "It needs a connection, and there is none yet.";
export const tryAgain = "Try again";
export const loading = "Loading…";
export const newestFirst = ({ title }: { title: string }) => `${title}, the newest first`;
export const loadMore = "Load more";
export const details = "Details";
export const actions = "Actions";
export const detailsOf = ({ name }: { name: string }) => `Details of ${name}`;
export const fieldRule = ({ rule }: { rule: string }) => `It ${rule}`;
export const pageFailed = "Something went wrong in this page. Try again.";
export const storedAtDestination = "It was stored at the destination of the task. Open it there.";
export const open = "Open";
export const copyAddress = "Copy its address";
export const severalFiles = "This output has several files. Open its address in a player.";
export const outputNotShown =
  "This browser can't show it, or it has expired: outputs are kept for a limited time.";
export const download = "Download";
export const video = "Video";
export const audio = "Audio";
export const image = "Image";
export const animation = "Animation";
export const storyboard = "Storyboard";
export const waveform = "Waveform";
export const stream = "Stream";
export const inspect = "Inspect";
export const fetch = "Fetch";
export const encode = "Encode";
export const storeResult = "Store the result";
export const copiedEncoder = "Copied without re-encoding";
export const lightEncoder = "FFmpeg in a Worker";
export const nativeEncoder = "Native FFmpeg in a container";
export const veryLow = "Very low";
export const low = "Low";
export const medium = "Medium";
export const high = "High";
export const veryHigh = "Very high";
export const noTasksMatch = "No tasks match these filters.";
export const noTasks =
  "There are no tasks yet. Create one from a URL with “New task”, or send a file here from Files.";
export const singleSteps = "Steps that were made alone are not listed here; the API has them at GET /steps.";
export const input = "Input";
export const kind = "Kind";
export const status = "Status";
export const progress = "Progress";
export const progressOf = ({ name }: { name: string }) => `Progress of ${name}`;
export const took = ({ time }: { time: string }) => `took ${time}`;
export const copyId = ({ id }: { id: string }) => `Copy the id ${id}`;
export const all = "All";
export const steps = "Steps";
export const metadata = "Metadata";
export const retryMayHelp = " Trying again may help.";
export const runAgain = "Run again";
export const taskDeletion = ({ name }: { name: string }) =>
  `${name} is taken off the list, and what the service keeps of its output is removed for good.`;
export const deleteTask = "Delete this task?";
export const running = "Running";
export const url = "URL";
export const events = "Events";
export const everything = "Everything";
export const endpoints = "Endpoints";
export const newEndpoint = "New endpoint";
export const noEndpoints = "There are no endpoints yet. Create one to be notified when tasks change.";
export const pause = "Pause";
export const resume = "Resume";
export const newSecret = "New secret";
export const endpointUrlHint = "Where your server receives events, https://.";
export const endpointSecret = "The endpoint's secret";
export const endpointSecretUse =
  "Your server uses it to verify that posts come from this service: pass it to verifyWebhook.";
export const secretRotation = "The current one stays valid for one more day.";
export const createSecretTitle = "Create a new secret?";
export const createSecret = "Create a new secret";
export const endpointDeletion = ({ url }: { url: string }) => `Nothing more is posted to ${url}.`;
export const deleteEndpoint = "Delete this endpoint?";
export const taskWebhooks = "Webhooks of single tasks";
export const taskWebhooksPurpose =
  "Posts to the webhook of a single task are signed with the secret of the project.";
export const newProjectSecret = "New project secret";
export const projectSecretRotation = "The current one, if any, stays valid for one more day.";
export const projectSecret = "The project's secret";
export const projectSecretUse = "It signs posts to the webhook of a task or step: pass it to verifyWebhook.";
export const event = "Event";
export const of = "Of";
export const at = "At";
export const noEvents = "No events yet. Every change of a task is listed here.";
export const to = "To";
export const tries = "Tries";
export const noAnswer = "no answer";
export const deliveries = "Deliveries";
export const noDeliveries =
  "No deliveries yet. They appear here when a task changes and an endpoint has subscribed to it.";
export const replay = "Replay";
export const answered = ({ status }: { status: number }) => `answered ${status}`;
export const nextTry = "Next try:";
export const ofTheEvent = "of the event";
export const deliveryTo = ({ kind, host }: { kind: string; host: string }) => `${kind} to ${host}`;
export const picturesByTime = ({ count }: { count: number }) =>
  `${count === 1 ? "1 picture" : `${count} pictures`}, by time:`;
export const speed = ({ factor }: { factor: string }) => `${factor}× speed`;
export const milliseconds = ({ duration }: { duration: number }) => `${duration} ms`;
export const withoutDestination = "Without one the service keeps the file for a while.";

const CHECK_ADDRESS = "Check the address, and that the service is running.";
export const enterAddress = "Enter the address of a service, such as https://media.example.com.";
export const addressNotHttp = "The address must start with https:// or http://.";
export const addressHasExtras =
  "Leave user name, password, ? and # out of the address; the key has its own field.";
export const addressNeedsHttps =
  "This page was loaded over https, so the browser blocks services over http. Use the service's https:// address.";
export const notAService = ({ host }: { host: string }) =>
  `${host} responds, but not as a Framewright service. Check the address.`;
export const enterKey = "Enter the key exactly, without spaces.";
export const serviceLate = ({ host, seconds }: { host: string; seconds: number }) =>
  `${host} did not respond within ${seconds} seconds. ${CHECK_ADDRESS}`;
export const serviceUnreachable = ({ host }: { host: string }) =>
  `${host} can't be reached, or does not let this page read its responses. ${CHECK_ADDRESS}`;
