declare module "*/dejavu-sans.bin" {
  const bytes: ArrayBuffer;
  // biome-ignore lint/style/noDefaultExport: it is how a Worker imports data
  export default bytes;
}
