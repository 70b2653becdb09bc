import type { FORMATS, Position, VideoFormat } from "./formats.ts";

/** A width or height in pixels, or as percent of the source's, such as `"50%"`. */
export type SizeOption = number | `${number}%`;

/** A part of a picture: the largest one with a ratio of sides such as `"16:9"`, or a rectangle within it. */
export type CropOption =
  | `${number}:${number}`
  | {
      /**
       * Left edge.
       *
       * @default 0
       */
      x?: SizeOption | undefined;
      /**
       * Upper edge.
       *
       * @default 0
       */
      y?: SizeOption | undefined;
      /** Width of the rectangle. */
      width: SizeOption;
      /** Height of the rectangle. */
      height: SizeOption;
    };

/** A range of the source to play. */
export interface PartOption {
  /**
   * Start in the source, in seconds.
   *
   * @default 0
   */
  start?: number | undefined;
  /** End in the source, in seconds; the end of the source when absent. */
  end?: number | undefined;
}

/** A video that plays after the input. */
export interface ConcatOption {
  /** URL of the video: http://, https:// or s3://. The clients take a file in its place. */
  url: string;
  /**
   * Start of the range to play, in seconds of the video.
   *
   * @default 0
   */
  start?: number | undefined;
  /** End of the range to play, in seconds of the video; by default the end of the video. */
  end?: number | undefined;
}

/** The transition from each joined video to the next. */
export interface TransitionOption {
  /** A cross-fade of pictures and sound. */
  kind: "fade";
  /** Length in seconds. */
  seconds: number;
}

/** A picture drawn over a video. */
export interface OverlayOption {
  /** URL of the picture: http://, https:// or s3://. The clients take a file in its place. */
  url: string;
  /**
   * Position of the picture: a side, a corner or the center, or the coordinates of its upper left corner in pixels or percentages of the output.
   *
   * @default "center"
   */
  position?: Position | { x?: SizeOption | undefined; y?: SizeOption | undefined } | undefined;
  /** Width in pixels, or as a percentage of the output's; by default the picture's own. */
  width?: SizeOption | undefined;
  /**
   * Opacity from 0, invisible, to 1, unchanged.
   *
   * @default 1
   */
  opacity?: number | undefined;
  /**
   * Time at which the picture appears, in seconds of the output.
   *
   * @default 0
   */
  start?: number | undefined;
  /** Time at which the picture disappears, in seconds of the output; by default it stays to the end. */
  end?: number | undefined;
}

/** A picture drawn over an image. */
export type ImageOverlayOption = Omit<OverlayOption, "start" | "end">;

/** A font of drawn text. */
export interface FontOption {
  /** URL of a TrueType or OpenType font: http://, https:// or s3://. All fonts together have at most 24 MiB. The clients take a file in its place. */
  url: string;
}

/** A text drawn over a video or an animation. */
export interface TextOption {
  /** The text, of at most 500 characters. A line break starts a new line, and lines too long for the picture are broken. */
  text: string;
  /**
   * Family name of the font to try first: one of `fonts`, or DejaVu Sans. By default the fonts are tried in their order, and DejaVu Sans
   * last.
   */
  font?: string | undefined;
  /**
   * Height of the letters in pixels, or as a percentage of the output's height.
   *
   * @default "6%"
   */
  size?: SizeOption | undefined;
  /**
   * Hex color of the letters, with or without opacity.
   *
   * @default "#ffffff"
   */
  color?: string | undefined;
  /**
   * Position of the text: a side, a corner or the center, each with a margin of 5%, or the coordinates of its upper left corner in pixels or
   * percentages of the output.
   *
   * @default "center"
   */
  position?: Position | { x?: SizeOption | undefined; y?: SizeOption | undefined } | undefined;
  /** Hex color of a box behind the text, with or without opacity; none when absent. */
  box?: string | undefined;
  /**
   * Time at which the text appears, in seconds of the output.
   *
   * @default 0
   */
  start?: number | undefined;
  /** Time at which the text disappears, in seconds of the output; by default it stays to the end. */
  end?: number | undefined;
}

/** A text drawn over an image. */
export type ImageTextOption = Omit<TextOption, "start" | "end">;

/** A file of subtitles that becomes a text track, or is drawn into the pictures. */
export interface SubtitleOption {
  /** URL of the file, in SRT, WebVTT, ASS or SSA: http://, https:// or s3://. The clients take a file in its place. */
  url: string;
  /** Language of the text, as in BCP 47, such as `"en"` or `"pt-BR"`. */
  language?: string | undefined;
  /** Name of the track in a player's menu, of at most 100 characters. */
  label?: string | undefined;
  /**
   * Whether players show the track by default; then no track of the source is shown. Only one file can be the default.
   *
   * @default false
   */
  default?: boolean | undefined;
  /**
   * Whether the text is drawn into the pictures, in DejaVu Sans, instead of becoming a track. Only one file can be burnt
   * in, without `label` or `default`.
   *
   * @default false
   */
  burn?: boolean | undefined;
  /** Style of a burnt-in text. */
  style?: CaptionStyleOption | undefined;
}

/** The style of burnt-in subtitles. */
export interface CaptionStyleOption {
  /** Height of the letters in pixels, or as a percentage of the output's height; by default, a line is a fifteenth of the shorter side tall. */
  size?: SizeOption | undefined;
  /**
   * Hex color of the letters, with or without opacity.
   *
   * @default "#ffffff"
   */
  color?: string | undefined;
  /**
   * Hex color of the outline of the letters, with or without opacity. With a box, there is no outline by default.
   *
   * @default "#000000"
   */
  outline?: string | undefined;
  /** Hex color of a box behind the text, with or without opacity; by default, there is no box. */
  box?: string | undefined;
  /**
   * Position of the text: a side, a corner or the center, each with a margin of 5%, or the coordinates of its upper left corner in pixels or
   * percentages of the output. By default, the text is where the file says, or at the bottom.
   */
  position?: Position | { x?: SizeOption | undefined; y?: SizeOption | undefined } | undefined;
}

/** How the segments of HLS are encrypted with your own key, which no record shows. */
export type EncryptionOption = {
  /** Encrypts whole segments by AES-128 in CBC mode, as in RFC 8216. */
  method: "aes-128";
  /** The key: 16 bytes, in hexadecimal or base64. No response, event or log contains it. */
  key: string;
  /** URL from which players get the key's 16 bytes; every playlist contains it. */
  key_url: string;
  /** The initialization vector of all segments, 16 bytes in hexadecimal or base64. By default each segment's number. */
  iv?: string | undefined;
};

/** The codecs of a video format. */
export type CodecOf<F extends VideoFormat> = (typeof FORMATS)["video"][F]["codecs"][number];
