/** Most points of all channels of a waveform together: 32 MB of peaks. */
export const MOST_POINTS = 8_000_000;
