/** A body that broke off or stalled; requesting the rest may help. */
export class BrokenBody extends Error {}

/** No bytes arrived in time. */
export class Silence extends BrokenBody {}
