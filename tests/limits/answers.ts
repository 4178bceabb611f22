import type { Answer } from '../support/contract-check.ts'

/** The headers about the limit that was charged. */
export function limitOf({ headers }: Pick<Answer, 'headers'>): string {
  return `${headers.get('ratelimit-policy')} ${headers.get('ratelimit')}`
}

/** Statuses of requests one after the other. */
export async function statuses(
  times: number,
  ask: (n: number) => Promise<{ status: number }>,
): Promise<number[]> {
  const seen: number[] = []
  for (let n = 0; n < times; n++) seen.push((await ask(n)).status)
  return seen
}

export function many(status: number, times: number): number[] {
  return Array.from({ length: times }, () => status)
}
