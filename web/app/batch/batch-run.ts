import { type BatchColumn, fieldsOf } from '../../pages/dashboard/batch-columns.ts'
import { askBatch } from './ask-batch.ts'
import { rowsOf } from './batch-parts.ts'
import type { BatchView, Files } from './batch-view.ts'
import { lookUpRows } from './look-up-rows.ts'
import type { AddressColumn } from './read-rows.ts'
import { type AnsweredRow, toCsvHeader, toCsvLine, toJsonLine } from './result-lines.ts'

export interface Service {
  readonly path: string
  /** Addresses in one request. */
  readonly size: number
}

/** One batch, from its rows to its files. Answers are kept as blobs, which need not be in memory. */
export function createRun(service: Service, view: BatchView, columns: readonly BatchColumn[]) {
  const csv = [new Blob([toCsvHeader(columns)])]
  const json: Blob[] = []
  let [answered, bad, degraded] = [0, 0, false]
  let stopping = new AbortController()

  const keep = (rows: readonly AnsweredRow[]) => {
    csv.push(new Blob(rows.map((row) => toCsvLine(row, columns))))
    json.push(new Blob(rows.map(toJsonLine)))
    answered += rows.length
    const without = rows.filter(({ result }) => 'error' in result)
    bad += without.length
    view.bad(without)
    view.progress(answered)
  }
  const ask = async (ips: readonly string[]) => {
    const question = { ips, fields: fieldsOf(columns) }
    const reply = await askBatch(service.path, question, stopping.signal)
    degraded ||= reply.degraded === true
    return reply
  }
  const wait = async (seconds: number) => {
    view.say('The limit of requests per minute is reached. It goes on by itself.')
    for (let left = seconds; left > 0; left--) {
      view.waiting(left)
      await second(stopping.signal)
    }
  }
  const summary = () =>
    [
      `Done: ${rowsOf(answered)}${bad === 0 ? '' : `, ${rowsOf(bad)} without an address`}.`,
      ...(degraded ? [REDUCED] : []),
    ].join(' ')

  return {
    /** Looks up what is not answered yet. */
    go: async ({ header, rows }: AddressColumn) => {
      stopping = new AbortController()
      view.begin(rows.length)
      view.progress(answered)
      const of = header === null ? '' : ` of the column “${header.slice(0, 100)}”`
      view.say(`Looking up ${rowsOf(rows.length - answered)}${of}.`)
      const said = await lookUpRows(rows, answered, { size: service.size, ask, wait, keep }).then(
        summary,
        (error: Error) => (stopping.signal.aborted ? 'Stopped.' : error.message),
      )
      view.progress(answered)
      view.say(said)
      view.end(answered === 0 ? null : filesOf(csv, json), rows.length - answered)
    },
    stop: () => stopping.abort(),
  }
}

const REDUCED = 'All requests of this period are used, so some answers are reduced to the country.'

function filesOf(csv: readonly Blob[], json: readonly Blob[]): Files {
  return {
    csv: new Blob([...csv], { type: 'text/csv' }),
    json: new Blob([...json], { type: 'application/jsonl' }),
  }
}

/** Throws once the signal is aborted. */
function second(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1_000)
    const stop = () => {
      clearTimeout(timer)
      reject(new Error('Stopped'))
    }
    signal.addEventListener('abort', stop, { once: true })
  })
}
