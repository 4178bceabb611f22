import { setTimeout as sleep } from 'node:timers/promises'
import { lookUpAddresses } from '../../../lib/address-lists/look-up-addresses.ts'
import { BATCH_MAX } from '../../../lib/contract/geo/batch.ts'
import { notAnAddress, parseEntry } from '../../../lib/geo/answer/bulk.ts'
import { BoundedCache } from '../../../lib/parts/bounded-cache.ts'
import { report } from '../../parts/run.ts'
import type { Server } from '../../parts/server-options.ts'
import { type Answer, sendBatch } from './send-batch.ts'
import { type ListAnswerOptions, type Source, withPrefix } from './source.ts'

/** About 600 bytes each. */
const KEPT_ANSWERS = 100_000
const LONGEST_WAIT_SECONDS = 300
/** Of a block: each is a request. */
const MOST_PARTS = 100

/**
 * Answers from `POST /v1/ip/batch` of a server. Each address counts towards the monthly cap of the key, so
 * latest answers are kept for addresses that occur again.
 */
export function openServerSource(server: Server, answerOptions: ListAnswerOptions): Source {
  const kept = new BoundedCache<string, Answer>(KEPT_ANSWERS)
  let degraded = 0
  const request = async (
    addresses: readonly string[],
    options: ListAnswerOptions,
    keep: (answer: Answer) => void,
  ) => {
    await lookUpAddresses(addresses, 0, {
      size: BATCH_MAX,
      send: (ips) => sendBatch(server, { ips, ...options }),
      wait: waitFor,
      keep: (answers) => {
        for (const answer of answers) {
          if (answer.isDegraded) degraded += 1
          keep(answer)
        }
      },
    })
  }
  const lookUp = (addresses: readonly string[], keep: (answer: Answer) => void) =>
    request(addresses, answerOptions, (answer) => {
      kept.set(answer.address, answer)
      keep(answer)
    })
  return {
    answersTo: async (texts) => {
      const addresses = texts.map((text) => parseEntry(text)?.text)
      const known = new Map<string | undefined, Answer>()
      const missing = new Set<string>()
      for (const address of addresses) {
        if (address === undefined) continue
        const answer = kept.get(address)
        if (answer === undefined) missing.add(address)
        else known.set(address, answer)
      }
      await lookUp([...missing], (answer) => known.set(answer.address, answer))
      return texts.map((text, at) => known.get(addresses[at])?.json ?? notAnAddress(text))
    },
    ask: async (addresses) => {
      const texts: string[] = []
      await request(addresses, withPrefix(answerOptions), ({ json }) => texts.push(json))
      return texts
    },
    mostParts: MOST_PARTS,
    [Symbol.dispose]: () => {
      if (degraded > 0) report(`${CAP_IS_USED_UP}; answers that have only the country: ${degraded}`)
    },
  }
}

const CAP_IS_USED_UP = 'The key has used all requests of this month'

async function waitFor(seconds: number): Promise<void> {
  if (seconds > LONGEST_WAIT_SECONDS) {
    throw new Error(`The server is too busy: it asks to wait ${seconds} s. Try again later`)
  }
  if (process.stderr.isTTY) report(`The server asks to wait ${seconds} s`)
  await sleep(seconds * 1_000)
}
