import { MediaError } from "../../core/errors.ts";

interface HeifImage {
  get_width(): number;
  get_height(): number;
  is_primary(): boolean;
  /** Calls back with straight RGBA in `target`, or null when the picture is damaged. */
  display(target: ImageData, done: (drawn: ImageData | null) => void): void;
  free(): void;
}

type Create = () => Libheif | Promise<Libheif>;

interface Libheif {
  HeifDecoder: new () => { decode(file: Uint8Array): HeifImage[] };
}

/**
 * Decodes the primary picture of a HEIC with libheif in wasm, turned and mirrored as viewers show it; null when it is damaged. The
 * wasm (0.7 MB compressed) is loaded with the first one. Runs synchronously: to cancel it, terminate its worker. Rejects with
 * `encoder_unavailable` when the wasm cannot be loaded.
 */
export async function decodeHeif(file: Uint8Array): Promise<ImageData | null> {
  // A new instance for each picture, because the memory of one never shrinks.
  const create = await load();
  const { HeifDecoder } = await create();
  const images = new HeifDecoder().decode(file);
  const image = images.find((each) => each.is_primary()) ?? images[0];
  if (!image) return null;
  const drawn = new ImageData(image.get_width(), image.get_height());
  const done = Promise.withResolvers<ImageData | null>();
  image.display(drawn, done.resolve);
  return done.promise;
}

async function load(): Promise<Create> {
  try {
    // @ts-expect-error: the package has no types for this file.
    const module: { default: Create } = await import("libheif-js/libheif-wasm/libheif-bundle.mjs");
    return module.default;
  } catch (cause) {
    throw new MediaError("encoder_unavailable", "The decoder of HEIC could not be loaded.", {
      cause,
      retryable: true,
    });
  }
}
