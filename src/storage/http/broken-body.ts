/** A body that broke off or fell silent; another request for the rest may mend it. */
export class BrokenBody extends Error {}

/** Nothing came for as long as is waited for it. */
export class Silence extends BrokenBody {}
