import type * as v from 'valibot'
import type { BatchError } from '../../contract/geo/batch.ts'
import type { GeolocationResult } from '../../contract/geo/geolocation.ts'
import { addressAt, type Block, blockText, parseBlock } from '../../parts/net/block.ts'
import { commonResult, hasNothing } from './common-result.ts'

/** A part of a block whose addresses all have the same answer. */
export interface Part {
  readonly block: Block
  readonly result: GeolocationResult
}

/** Answers addresses in order: JSON with `network.prefix`, the block around the address with the same answer. */
export type Ask = (addresses: readonly string[]) => Promise<readonly string[]>

interface Options {
  /** Blocks of more parts get an error. */
  readonly most: number
  /** Whether the caller has asked for `network.prefix`. */
  readonly hasPrefix: boolean
}

export type Answer = GeolocationResult | v.InferOutput<typeof BatchError>

/** What all addresses of each block have in common, or an error. Asks for one part of each block at a time. */
export async function summariseBlocks(
  blocks: readonly Block[],
  ask: Ask,
  options: Options,
): Promise<Answer[]> {
  const walks = blocks.map((block) => {
    let common: GeolocationResult | undefined
    const keep = ({ result }: Part) => {
      common = common === undefined ? result : commonResult(common, result)
      return !hasNothing(common)
    }
    return {
      ...createWalk(block, options.most, keep),
      summary: () => answer(block, common, options),
    }
  })
  await walkAll(walks, ask)
  return walks.map((walk) => (walk.isTooLong() ? walk.refusal() : walk.summary()))
}

/** The answers to all parts of each block, or an error. */
export async function expandBlocks(
  blocks: readonly Block[],
  ask: Ask,
  options: Options,
): Promise<Answer[][]> {
  const walks = blocks.map((block) => {
    const answers: Answer[] = []
    const keep = (part: Part) => answers.push(answer(part.block, part.result, options)) > 0
    return { ...createWalk(block, options.most, keep), answers }
  })
  await walkAll(walks, ask)
  return walks.map((walk) => (walk.isTooLong() ? [walk.refusal()] : walk.answers))
}

type Walk = ReturnType<typeof createWalk>

/** Goes through a block from part to part. `keep` returns whether to go on. */
function createWalk(block: Block, most: number, keep: (part: Part) => boolean) {
  const { version, first, last } = block
  let [at, parts, isEnough] = [first, 0, false]
  return {
    /** The address to ask for; undefined: at the end. */
    next: () => (isEnough || parts > most || at > last ? undefined : addressAt(version, at).text),
    take: (result: GeolocationResult) => {
      parts += 1
      let end = parseBlock(result.network?.prefix ?? '')?.last ?? at
      if (end > last) end = last
      const part = { version, first: at, last: end }
      at = end + 1n
      if (parts <= most) isEnough = !keep({ block: part, result })
    },
    isTooLong: () => parts > most,
    refusal: (): Answer => {
      const message = `The block has more than ${most} parts with answers of their own; split it`
      const { type, value } = queryOf(block)
      return { query: { type, value }, error: { code: 'BAD_REQUEST', message } }
    },
  }
}

async function walkAll(walks: readonly Walk[], ask: Ask): Promise<void> {
  for (;;) {
    const open = walks.flatMap((walk) => {
      const address = walk.next()
      return address === undefined ? [] : [{ walk, address }]
    })
    if (open.length === 0) return
    const answers = await ask(open.map(({ address }) => address))
    for (const [at, { walk }] of open.entries()) walk.take(JSON.parse(answers[at] ?? '{}'))
  }
}

function answer(
  block: Block,
  { query: _, network, ...result }: GeolocationResult = {},
  { hasPrefix }: Options,
): GeolocationResult {
  const { prefix, ...owner } = network ?? {}
  const own = { ...owner, ...(hasPrefix && prefix !== undefined && { prefix }) }
  const { location, ...rest } = result
  return {
    query: queryOf(block),
    ...(location && { location }),
    ...(Object.keys(own).length > 0 && { network: own }),
    ...rest,
  }
}

function queryOf(block: Block) {
  const value = blockText(block)
  return { type: value.includes('/') ? 'network' : 'range', value, ipVersion: block.version }
}
