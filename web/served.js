// The directory beside the page, if a program serves one: `xla-shape serve` answers with a list of its files in the place of this.

export const SERVED = null;
