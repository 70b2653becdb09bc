import { useEffect, useState } from "preact/hooks";
import type { Output, Source } from "../../../src/index.ts";
import { clock } from "../../words/quantities.ts";
import { filesOf } from "../output-files.ts";

// More would take long to decode; the download has all of them.
const MOST = 24;

interface Picture {
  readonly name: string;
  readonly url: string;
  /** Seconds in the source; absent for a sheet. */
  readonly time: number | undefined;
}

/** Shows the sheets of a storyboard, or several stills with their times. */
export function Pictures({ output, name }: { output: Output; name: string }) {
  const pictures = usePictures(output);
  const [first] = pictures;
  const count = (output.source.files ?? []).filter(isPicture).length;
  const isSheets = first?.time === undefined;
  return (
    <>
      <ul class={isSheets ? "pictures sheets" : "pictures"} aria-label={`Pictures of ${name}`}>
        {pictures.map(({ name: file, url, time }) => (
          <li key={file}>
            <img
              src={url}
              alt={time === undefined ? file : `At ${clock(time, true)}`}
              crossOrigin="anonymous"
            />
            {time !== undefined && <span class="soft small numbers">{clock(time, true)}</span>}
          </li>
        ))}
      </ul>
      {count > MOST && (
        <p class="soft small">
          The first {MOST} of {count} are shown. The download has all.
        </p>
      )}
    </>
  );
}

function usePictures(output: Output): Picture[] {
  const [pictures, setPictures] = useState<Picture[]>([]);
  useEffect(() => {
    const made: string[] = [];
    const local = new Map(filesOf(output).map(({ name, file }) => [name, file]));
    const listed = (output.source.files ?? []).filter(isPicture).slice(0, MOST);
    setPictures(
      listed.map(({ url, time }) => {
        const name = url.replace(/[?#].*$/, "").replace(/^.*\//, "");
        const file = local.get(name);
        if (!file) return { name, url, time };
        const shown = URL.createObjectURL(file);
        made.push(shown);
        return { name, url: shown, time };
      }),
    );
    return () => {
      for (const url of made) URL.revokeObjectURL(url);
    };
  }, [output]);
  return pictures;
}

function isPicture({ mime }: NonNullable<Source["files"]>[number]): boolean {
  return mime.startsWith("image/");
}
