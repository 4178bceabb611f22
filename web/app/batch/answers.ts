import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import type { RowAnswer } from '../../../pages/dashboard/look-up/batch-columns.ts'

/** Why a row has no result after the look-up was stopped. */
const NOT_LOOKED_UP: RowAnswer = { error: 'Not looked up' }

export type Answers = ReturnType<typeof createAnswers>

/** Keeps the answers to addresses in order. Equal results are kept once. */
export function createAnswers() {
  const answers: RowAnswer[] = []
  const results = new Map<string, GeolocationResult>()
  const once = (result: GeolocationResult) => {
    const key = JSON.stringify(result)
    const known = results.get(key) ?? result
    results.set(key, known)
    return known
  }
  return {
    keep: (found: readonly GeolocationResult[]) => {
      for (const { query, ...result } of found)
        answers.push({ ip: query?.value ?? '', result: once(result) })
    },
    count: () => answers.length,
    at: (index: number | undefined): RowAnswer => answers[index ?? -1] ?? NOT_LOOKED_UP,
    /** The number of rows whose result is degraded. */
    degraded: ({ counts }: { readonly counts: readonly number[] }) =>
      answers.reduce(
        (rows, { result }, at) => rows + (result?.meta?.degraded === true ? (counts[at] ?? 0) : 0),
        0,
      ),
  }
}
