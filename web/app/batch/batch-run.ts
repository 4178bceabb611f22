import type { Collected } from '../../../lib/address-lists/collect.ts'
import type { ListForm } from '../../../lib/address-lists/form.ts'
import { lookUpAddresses, type Reply } from '../../../lib/address-lists/look-up-addresses.ts'
import { readList } from '../../../lib/address-lists/read-list.ts'
import { BYTE_ORDER_MARK } from '../../../lib/contract/geo/csv-cell.ts'
import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { BATCH_FIELDS, type BatchColumn } from '../../../pages/dashboard/look-up/batch-columns.ts'
import { createAnswers } from './answers.ts'
import { addressesOf, type BatchView, rowsOf } from './batch-view.ts'
import { collectAddresses } from './collect.ts'
import { countPlaces } from './count-places.ts'
import type { ListReport, ResultsView } from './results-view.tsx'
import { textOf } from './source.ts'
import { openTable, toBlobs } from './table-pages.ts'
import { delimiterOf, OUTPUTS, type Output, writeResults } from './write-results.ts'

const TIMEOUT_MS = 60_000

export interface Service {
  readonly path: string
  /** Addresses in one request. */
  readonly size: number
}

export interface List {
  readonly source: Blob
  /** Whether the list begins with a byte order mark. */
  readonly hasMark: boolean
  readonly form: ListForm
  readonly columns: readonly BatchColumn[]
}

interface Views {
  readonly view: BatchView
  readonly results: ResultsView
}

/** Looks up one list: reads it, asks for each address once, and reads it again to write the results. */
export function createRun(service: Service, list: List, { view, results }: Views) {
  const answers = createAnswers()
  let collected: Collected | undefined
  let stopping = new AbortController()

  const collect = async () => {
    view.announce('Reading the list.')
    const all = await collectAddresses(rowsIn(list, stopping.signal), view.reading)
    view.listBadRows(all)
    if (all.rows === 0) throw new Error('Enter an address or choose a file.')
    return all
  }
  const lookUp = async ({ addresses }: Collected) => {
    const show = () => view.progress(answers.count(), addresses.length)
    show()
    view.announce(`Looking up ${addressesOf(addresses.length - answers.count())}.`)
    await lookUpAddresses(addresses, answers.count(), {
      size: service.size,
      send: (ips) => fetchBatch(service.path, { ips, fields: BATCH_FIELDS }, stopping.signal),
      wait: (seconds) => waitFor(seconds, view, stopping.signal),
      keep: (found) => {
        answers.keep(found)
        show()
      },
    })
  }
  const run = async () => {
    collected ??= await collect()
    await lookUp(collected)
    return describeOutcome(collected, list.form, answers.degraded(collected))
  }
  const reasonOf = (error: Error) => (stopping.signal.aborted ? 'Stopped.' : error.message)
  const showResults = async (all: Collected) => {
    // The results so far are also shown after a stop.
    if (stopping.signal.aborted) stopping = new AbortController()
    view.announce('Preparing the results.')
    const write = (output: Output) => {
      const answerTo = (address: string) => answers.at(all.indexOf(address))
      return writeResults(rowsIn(list, stopping.signal), output, { ...list, answerTo })
    }
    const counts = await countPlaces(all, answers)
    results.show({ ...(await toTable(list, write)), ...counts, rows: all.rows })
  }

  return {
    /** Looks up the remaining addresses, and shows all results so far. */
    go: async () => {
      stopping = new AbortController()
      results.clear()
      view.begin()
      const outcome = await run().catch(reasonOf)
      if (collected === undefined) {
        view.announce(outcome)
        return view.end(0)
      }
      const problem = await showResults(collected).then(() => null, reasonOf)
      view.announce(problem ?? outcome)
      view.end(collected.addresses.length - answers.count())
    },
    stop: () => stopping.abort(),
  }
}

function rowsIn({ source, form }: List, signal: AbortSignal) {
  return readList(textOf(source, signal), form)
}

/** The table of the results, and the files to download. */
async function toTable(
  { form, columns, hasMark }: List,
  write: (output: Output) => AsyncIterable<string>,
): Promise<Pick<ListReport, 'form' | 'columns' | 'table' | 'firstPage' | 'download'>> {
  const table = await openTable(write('csv'), delimiterOf('csv', form))
  return {
    form,
    columns,
    table,
    firstPage: await table.readPage(0),
    download: async (output) => {
      const parts = output === 'csv' ? table.parts : await toBlobs(write(output))
      const mark = hasMark && output !== 'json' ? [BYTE_ORDER_MARK] : []
      return new Blob([...mark, ...parts], { type: OUTPUTS[output].type })
    },
  }
}

function describeOutcome(
  { rows, without, several }: Collected,
  { take }: ListForm,
  degraded: number,
): string {
  const ofSeveral = `In ${rowsOf(several)} with several addresses, the ${take} was looked up.`
  return [
    `Done: ${rowsOf(rows)}${without === 0 ? '' : `, ${rowsOf(without)} without an address`}.`,
    ...(several === 0 ? [] : [ofSeveral]),
    ...(degraded === 0 ? [] : [`${DEGRADED} ${rowsOf(degraded)}, marked in the column degraded.`]),
  ].join(' ')
}

const DEGRADED = 'You have used all requests of this period, so results contain only the country in'

async function waitFor(seconds: number, view: BatchView, signal: AbortSignal): Promise<void> {
  view.announce('You have reached the per-minute limit. The look-up continues automatically.')
  for (let left = seconds; left > 0; left--) {
    view.waiting(left)
    await waitSecond(signal)
  }
}

/** Waits a second. Throws if the signal is aborted. */
function waitSecond(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1_000)
    const stop = () => {
      clearTimeout(timer)
      reject(new Error('Stopped'))
    }
    signal.addEventListener('abort', stop, { once: true })
  })
}

/** The answer of the page to its script. */
interface Body {
  readonly results?: readonly GeolocationResult[]
  readonly error?: { readonly message: string }
}

/** Looks up a part of a batch through the page. Throws an Error with the reason if that fails. */
async function fetchBatch(
  path: string,
  request: { readonly ips: readonly string[]; readonly fields: readonly string[] },
  signal: AbortSignal,
): Promise<Reply<GeolocationResult>> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).catch(() => {
    throw new Error('Cannot reach the service.')
  })
  if (response.type === 'opaqueredirect') {
    throw new Error('You are signed out. Sign in again in another tab, then continue.')
  }
  if (response.status === 429) {
    return { kind: 'wait', seconds: Number(response.headers.get('retry-after') ?? 60) }
  }
  const { results, error } = await readBody(response)
  if (results === undefined) {
    throw new Error(`${error?.message ?? `The service answered with status ${response.status}`}.`)
  }
  return { kind: 'answered', results }
}

async function readBody(response: Response): Promise<Body> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return isJson ? response.json() : {}
}
