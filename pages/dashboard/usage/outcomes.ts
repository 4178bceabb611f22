/** How a request ended, in plain words, with its colour in charts. */
export const OUTCOMES = {
  answered: { name: 'Answered', color: '--accent' },
  notFound: { name: 'Not found', color: '--line-strong' },
  limited: { name: 'Over a limit', color: '--near' },
  refused: { name: 'Refused', color: '--error' },
  failed: { name: 'Failed', color: '--ink' },
} as const

export type Outcome = keyof typeof OUTCOMES

export function outcomeOf(status: number): Outcome {
  if (status < 400) return 'answered'
  if (status >= 500) return 'failed'
  if (status === 404) return 'notFound'
  return status === 429 ? 'limited' : 'refused'
}
