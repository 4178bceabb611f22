import type { Address } from '../address.ts'
import { type DescribeOptions, type Description, describe } from './describe.ts'
import type { Library } from './library.ts'
import { RecordCache } from './record-cache.ts'

/** Up to 32,768 answers are kept: about 20 MB, once that many were asked for twice. */
const CACHE_BITS = 15
const MINUTE_MS = 60_000

/** What holds as long as the offsets from UTC may not change and the databases are the same. */
interface Kept {
  readonly minute: number
  readonly databases: ReturnType<Library['list']>
  readonly answers: RecordCache<Description>
}

/**
 * Returns a `describe` that keeps what it says of IPv4 addresses that come again: most look-ups are
 * of few addresses, and an answer in one piece lies closer together than what it is made of.
 */
export function createAnswers(library: Pick<Library, 'locate' | 'list'>) {
  let kept: Kept = { minute: -1, databases: [], answers: new RecordCache(0) }
  return (address: Address, options: DescribeOptions): Description => {
    if (address.version === 6 || options.degraded) {
      return describe(address, library.locate(address), options)
    }
    const minute = Math.floor(options.now / MINUTE_MS)
    const databases = library.list()
    if (kept.minute !== minute || kept.databases !== databases) {
      kept = { minute, databases, answers: new RecordCache(CACHE_BITS) }
    }
    const known = kept.answers.get(address.bits)
    if (known !== undefined) return known
    const description = describe(address, library.locate(address), options)
    if (kept.answers.offer(address.bits, description)) {
      kept.answers.offer(address.bits, inOnePiece(description))
    }
    return description
  }
}

/** V8 keeps joined texts as a tree of their parts, which lie anywhere in memory. */
function inOnePiece({ json, precision }: Description): Description {
  return { json: Buffer.from(json, 'latin1').toString('latin1'), precision }
}
