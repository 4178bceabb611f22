/** A number from 0 to below 1. */
export type Random = () => number

interface Weighted {
  readonly weight: number
}

/** One of `choices`, more often the greater its weight. */
export function pick<Choice extends Weighted>(
  random: Random,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const total = choices.reduce((sum, { weight }) => sum + weight, 0)
  let rest = random() * total
  for (const choice of choices) {
    rest -= choice.weight
    if (rest < 0) return choice
  }
  return choices[0]
}

/** A time that is often near `median` and sometimes a multiple of it, as times of pages are. */
export function drawTime(random: Random, median: number, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.round(median * Math.exp(spread * normal) * 10) / 10
}

/** How often something happens that happens `expected` times on average. */
export function drawCount(random: Random, expected: number): number {
  const whole = Math.floor(expected)
  const noise = Math.round((random() - 0.5) * Math.sqrt(expected) * 2)
  return Math.max(0, whole + noise + (random() < expected - whole ? 1 : 0))
}
