import { expandBlocks, summariseBlocks } from '../../../lib/address-lists/blocks/blocks.ts'
import type { Row } from '../../../lib/address-lists/read-list.ts'
import { asciiJson } from '../../../lib/geo/place/json-text.ts'
import { type Block, blockText, parseBlock } from '../../../lib/parts/net/block.ts'
import type { ListAnswerOptions, Source } from './source.ts'

/** How blocks are answered: by what all their addresses have in common, or each part on its own. */
export type OfBlocks = 'summary' | 'parts'

/** Answers addresses and blocks, in order. Blocks are few, so that addresses are answered without waiting for them. */
export function createAnswerEntries(
  source: Source,
  { include = [] }: ListAnswerOptions,
  ofBlocks: OfBlocks = 'summary',
): Source['answersTo'] {
  const options = { most: source.mostParts, hasPrefix: include.includes('network') }
  return async (texts) => {
    const blocks = texts.map((text) => (MAY_BE_BLOCK.test(text) ? parseBlock(text) : null))
    const found = blocks.filter((block) => block !== null)
    if (found.length === 0) return source.answersTo(texts)
    const answers =
      ofBlocks === 'parts'
        ? await expandBlocks(found, source.ask, options)
        : (await summariseBlocks(found, source.ask, options)).map((answer) => [answer])
    return inOrder(blocks, answers, await source.answersTo(texts.filter((_, at) => !blocks[at])))
  }
}

const MAY_BE_BLOCK = /[/\-–—]/
/** Twice 45 characters, and what is between and around them. */
const LONGEST_BLOCK = 100

/** What to look up for a row: its block if the cell or line is one, or else its address. */
export function entryOf({ text, address }: Row): string | undefined {
  if (text.length > LONGEST_BLOCK || !MAY_BE_BLOCK.test(text)) return address
  const block = parseBlock(text)
  return block === null ? address : blockText(block)
}

function* inOrder(
  blocks: readonly (Block | null)[],
  ofBlocks: readonly (readonly object[])[],
  ofAddresses: Iterable<string>,
): Generator<string> {
  const addresses = ofAddresses[Symbol.iterator]()
  const found = ofBlocks[Symbol.iterator]()
  for (const block of blocks) {
    if (block === null) yield addresses.next().value ?? ''
    else yield* (found.next().value ?? []).map(asciiJson)
  }
}
