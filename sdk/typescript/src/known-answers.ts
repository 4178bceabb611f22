import { type Address, contains, parseBlock } from './address.ts'
import { BlockCache, type CacheOptions } from './block-cache.ts'
import type { Field, Include, Lang, SelectedResult } from './types.ts'

/** What decides which fields a result has. */
export interface Asked {
  readonly fields?: readonly Field[] | undefined
  readonly include?: readonly Include[] | undefined
  readonly lang?: Lang | undefined
}

/**
 * Answers look-ups of addresses in blocks whose answer is known. For that it asks for `network.prefix`,
 * and hides it from callers who have not.
 */
export class KnownAnswers {
  /** undefined: nothing is kept. */
  readonly #cache: BlockCache<SelectedResult> | undefined

  constructor(options: CacheOptions | false) {
    this.#cache = options === false ? undefined : new BlockCache(options)
  }

  /** What to ask of the service, so that the answer can be kept. */
  toAsk(asked: Asked): Asked {
    if (this.#cache === undefined || isOfOneAddress(asked) || asksPrefix(asked)) return asked
    const { fields, include = [] } = asked
    if (fields !== undefined) return { ...asked, fields: [...fields, 'network.prefix'] }
    return { ...asked, include: [...include, 'network'] }
  }

  /** A result of its own for each caller, as if the service had answered; undefined if none is known. */
  find(address: Address, asked: Asked): SelectedResult | undefined {
    const known = this.#cache?.find(address, this.#kindOf(asked), Date.now())
    return known === undefined ? undefined : this.present(withQuery(known, address), asked)
  }

  /** Keeps the service's answer. */
  keep(address: Address, asked: Asked, answer: SelectedResult): void {
    // Over the monthly cap, answers lack fields that they have again next month.
    if (isOfOneAddress(asked) || answer.meta?.degraded === true) return
    const block = parseBlock(answer.network?.prefix ?? '')
    const shared = block !== undefined && contains(block, address) ? block : address
    this.#cache?.keep(shared, this.#kindOf(asked), answer, Date.now())
  }

  /** A copy of the service's answer, with only what the caller asked. */
  present(answer: SelectedResult, asked: Asked): SelectedResult {
    const own = structuredClone(answer)
    if (own.network === undefined || asksPrefix(asked)) return own
    delete own.network.prefix
    if (Object.keys(own.network).length === 0) delete own.network
    return own
  }

  /** The same for all callers whose answers differ only in the prefix that is hidden from some. */
  #kindOf(asked: Asked): string {
    const { fields, include, lang } = this.toAsk(asked)
    return JSON.stringify([fields, include, lang])
  }
}

/** The service refuses an empty list, which a caller may well have. */
export function unlessEmpty<Name>(include: readonly Name[] = []): readonly Name[] | undefined {
  return include.length === 0 ? undefined : include
}

/** Hostnames differ within a block. */
function isOfOneAddress({ fields = [], include = [] }: Asked): boolean {
  return include.includes('hostname') || fields.includes('hostname')
}

function asksPrefix({ fields = [], include = [] }: Asked): boolean {
  return include.includes('network') || fields.includes('network.prefix')
}

/** The same result for another address of the block. */
function withQuery(result: SelectedResult, { text }: Address): SelectedResult {
  if (result.query?.value === undefined) return result
  return { ...result, query: { ...result.query, value: text } }
}
