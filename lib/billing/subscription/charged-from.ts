/**
 * From when each step between plans is charged in this period: epoch milliseconds by the id of the
 * step's dearer plan. A step that is missing has been charged since the period began.
 */
export type ChargedFrom = Map<string, number>

/** Reads times in seconds, such as `starter=1768478400 pro=1769688000`; ignores everything else. */
export function readChargedFrom(text: string): ChargedFrom {
  const entries = text.matchAll(/(\S+)=(\d{1,12})(?= |$)/g)
  return new Map([...entries].map(([, id = '', seconds]) => [id, Number(seconds) * 1000]))
}

/** Stripe keeps 500 characters: those of nine plans with the longest ids. */
const MAX_STEPS = 9

/** Leaves out times up to `start`, the beginning of the period. */
export function writeChargedFrom(chargedFrom: ChargedFrom, start: number): string {
  return [...chargedFrom]
    .filter(([, time]) => time > start)
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_STEPS)
    .map(([id, time]) => `${id}=${time / 1000}`)
    .join(' ')
}
