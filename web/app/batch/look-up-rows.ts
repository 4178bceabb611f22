import { type AddressRow, mayBeAddress } from './read-rows.ts'
import type { AnsweredRow } from './result-lines.ts'

/** What the service says to a part of the rows. */
export type Reply =
  | { readonly kind: 'answered'; readonly results: readonly object[] }
  | { readonly kind: 'wait'; readonly seconds: number }

export interface LookUp {
  /** Rows asked for at once. */
  readonly size: number
  /** Throws an Error that says why there is no answer. */
  readonly ask: (ips: readonly string[]) => Promise<Reply>
  readonly wait: (seconds: number) => Promise<void>
  /** Takes what is answered, in the order of the rows. */
  readonly keep: (rows: readonly AnsweredRow[]) => void
}

/** Of a limit that never lets a part through, nobody waits for the end. */
const MAX_WAITS = 10

/** Asks for the rows from `start` on, part by part, and waits where the service says so. */
export async function lookUpRows(
  rows: readonly AddressRow[],
  start: number,
  lookUp: LookUp,
): Promise<void> {
  for (let at = start; at < rows.length; at += lookUp.size) {
    const part = rows.slice(at, at + lookUp.size)
    const ips = part.map(({ text }) => text).filter(mayBeAddress)
    const results = ips.length === 0 ? [] : await askPatiently(ips, lookUp)
    lookUp.keep(join(part, results))
  }
}

async function askPatiently(ips: readonly string[], { ask, wait }: LookUp) {
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    const reply = await ask(ips)
    if (reply.kind === 'answered') return reply.results
    await wait(reply.seconds)
  }
  throw new Error('The service is too busy. Go on later.')
}

function join(part: readonly AddressRow[], results: readonly object[]): AnsweredRow[] {
  const answers = results.values()
  return part.map((row) => {
    const result = mayBeAddress(row.text) ? answers.next().value : undefined
    return { ...row, result: result ?? notAnAddress(row.text) }
  })
}

const SHOWN_CHARACTERS = 100

/** As the API says it. */
function notAnAddress(text: string): object {
  const value = text.slice(0, SHOWN_CHARACTERS)
  const error = { code: 'BAD_REQUEST', message: 'Not an IPv4 or IPv6 address' }
  return { query: { type: 'ip', value }, error }
}
