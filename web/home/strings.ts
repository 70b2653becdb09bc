// The first load includes these. The words of the jobs are in `jobs.ts`.

export const title = "Framewright: convert video, sound and photos on your own device";
export const promise = "Convert video, sound and photos without uploading them.";
export const lead = "Free, no account. It runs on your own device, even offline.";
export const types = "MP4 MOV MKV WebM AVI · MP3 WAV FLAC M4A · HEIC JPEG PNG WebP AVIF GIF";
export const jobs = "What do you want to do?";
export const moreJobs = "What else do you want to do?";
export const limits = "Fit a size limit";
export const limitsNote = "Never above, never worse than needed";
export const anyJob = "Everything else";
export const forNewFiles = "Files that you add now are set up for this.";
export const proofs = {
  private: ["Nothing leaves this device", "No server takes part. Your files stay here."],
  offline: ["Works offline", "After your first visit, you need no network. Pull the plug and try."],
  service: ["Also as a service", "The same tasks on your own server."],
} as const;
export const openConsole = "Connect a service";
