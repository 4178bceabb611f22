/** A number from 0 to below 1. */
export type Random = () => number

/** Returns a mulberry32 generator. The seed determines the sequence. */
export function createRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Picks a value, each with the same probability. Throws if there is none. */
export function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('Cannot pick from an empty list')
  return value
}

/** Picks a choice with a probability in proportion to its weight. */
export function pickByWeight<Choice extends { readonly weight: number }>(
  random: Random,
  choices: readonly Choice[],
): Choice {
  const total = choices.reduce((sum, { weight }) => sum + weight, 0)
  let rest = random() * total
  for (const choice of choices) {
    rest -= choice.weight
    if (rest < 0) return choice
  }
  throw new Error('Cannot pick from an empty list')
}
