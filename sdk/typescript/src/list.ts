import { type Address, NOT_AN_ADDRESS, parseAddress } from './address.ts'
import { MeridianError } from './error.ts'
import { type KnownAnswers, unlessEmpty } from './known-answers.ts'
import type { BatchError, ListOptions, SelectedResult } from './types.ts'

type Item = SelectedResult | BatchError

export interface ListSender {
  readonly known: KnownAnswers
  /** Batches under way at the same time. */
  readonly concurrency: number
  /** Sends one batch and returns the JSON of the answer. */
  readonly send: (body: object) => Promise<unknown>
}

const BATCH_MAX = 1_000
/** The service shows as much of a text that is not an address. */
const SHOWN_CHARACTERS = 100

/** Locates each different address once. Returns the results in the order of `texts`. */
export async function locateList(
  texts: readonly string[],
  options: ListOptions,
  sender: ListSender,
): Promise<Item[]> {
  const items = new Map<string, Item>()
  const batches = toBatches(new Set(texts), options, { items, known: sender.known })
  // All workers draw from the same batches. If one fails, the others draw no more.
  const work = async () => {
    for (const batch of batches) await locateBatch(batch, options, { items, ...sender })
  }
  await Promise.all(Array.from({ length: sender.concurrency }, work))
  return texts.map((text) => present(items.get(text), options, sender.known))
}

interface Located {
  /** Results by the text of their address. */
  readonly items: Map<string, Item>
  readonly known: KnownAnswers
}

/**
 * Addresses for the service to locate. A batch is made when it is drawn, so that it lacks what earlier
 * ones have found.
 */
function* toBatches(
  texts: Iterable<string>,
  options: ListOptions,
  { items, known }: Located,
): Generator<Map<string, Address>> {
  let batch = new Map<string, Address>()
  for (const text of texts) {
    const address = parseAddress(text)
    const item = address === undefined ? refusal(text) : known.find(address, options)
    if (item !== undefined) items.set(text, item)
    else if (address !== undefined) batch.set(text, address)
    if (batch.size < BATCH_MAX) continue
    yield batch
    batch = new Map()
  }
  if (batch.size > 0) yield batch
}

/** What the service answers for a text that is not an address. */
function refusal(text: string): BatchError {
  return {
    query: { type: 'ip', value: text.slice(0, SHOWN_CHARACTERS) },
    error: { code: 'BAD_REQUEST', message: NOT_AN_ADDRESS },
  }
}

async function locateBatch(
  batch: ReadonlyMap<string, Address>,
  options: ListOptions,
  { items, known, send }: Located & ListSender,
): Promise<void> {
  const { fields, include, lang } = known.toAsk(options)
  const body = { ips: [...batch.keys()], fields, include: unlessEmpty(include), lang }
  const results = toResults(await send(body))
  if (results.length !== batch.size) {
    const message = `The answer has ${results.length} results for ${batch.size} addresses`
    throw new MeridianError(message, { status: 200, code: 'UNEXPECTED_ANSWER' })
  }
  for (const [at, [text, address]] of [...batch].entries()) {
    const item = results[at] ?? refusal(text)
    items.set(text, item)
    if (!('error' in item)) known.keep(address, options, item)
  }
}

function toResults(answer: unknown): readonly Item[] {
  const hasResults = typeof answer === 'object' && answer !== null && 'results' in answer
  // safe: the answer has the form of the OpenAPI document
  return hasResults && Array.isArray(answer.results) ? (answer.results as Item[]) : []
}

/** A text that occurs several times has a result of its own each time. */
function present(item: Item | undefined, options: ListOptions, known: KnownAnswers): Item {
  if (item === undefined) throw new Error('An address was not located')
  return 'error' in item ? structuredClone(item) : known.present(item, options)
}
