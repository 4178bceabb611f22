import { type AddressRow, mayBeAddress } from './read-rows.ts'
import type { AnsweredRow } from './result-lines.ts'

/** The answer of the service to a part of the rows. */
export type Reply =
  | { readonly kind: 'answered'; readonly results: readonly object[] }
  | { readonly kind: 'wait'; readonly seconds: number }

export interface LookUp {
  /** Rows per request. */
  readonly size: number
  /** Throws an Error with the reason if there is no answer. */
  readonly send: (ips: readonly string[]) => Promise<Reply>
  readonly wait: (seconds: number) => Promise<void>
  /** Receives the answered rows in order. */
  readonly keep: (rows: readonly AnsweredRow[]) => void
}

/** After this many waits for one part, the look-up stops with an error. */
const MAX_WAITS = 10

/** Looks up the rows from `start` on in parts, and waits whenever the service says so. */
export async function lookUpRows(
  rows: readonly AddressRow[],
  start: number,
  lookUp: LookUp,
): Promise<void> {
  for (let at = start; at < rows.length; at += lookUp.size) {
    const part = rows.slice(at, at + lookUp.size)
    const ips = part.map(({ text }) => text).filter(mayBeAddress)
    const results = ips.length === 0 ? [] : await sendPatiently(ips, lookUp)
    lookUp.keep(join(part, results))
  }
}

async function sendPatiently(ips: readonly string[], { send, wait }: LookUp) {
  for (let waits = 0; ; waits++) {
    const reply = await send(ips)
    if (reply.kind === 'answered') return reply.results
    if (waits === MAX_WAITS) throw new Error('The service is too busy. Continue later.')
    await wait(reply.seconds)
  }
}

function join(part: readonly AddressRow[], results: readonly object[]): AnsweredRow[] {
  const answers = results.values()
  return part.map((row) => {
    const result = mayBeAddress(row.text) ? answers.next().value : undefined
    return { ...row, result: result ?? notAnAddress(row.text) }
  })
}

const SHOWN_CHARACTERS = 100

/** The same error as that of the API. */
function notAnAddress(text: string): object {
  const value = text.slice(0, SHOWN_CHARACTERS).replace(/[\ud800-\udbff]$/, '\ufffd')
  const error = { code: 'BAD_REQUEST', message: 'Not an IPv4 or IPv6 address' }
  return { query: { type: 'ip', value }, error }
}
