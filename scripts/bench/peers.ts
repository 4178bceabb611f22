import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PREPARED } from '../../lib/geo/prepare.ts'
import { type Mix, randomMix, zipfMix } from './addresses.ts'
import type { HttpOptions } from './http.ts'
import { memoryMegabytes, moveToLoadCore } from './machine.ts'
import { listPeers, type Peer } from './peer-list.ts'
import { driveInRounds, type Measured, medianOf } from './rounds.ts'
import { askOnce, checkAnswer, type Target } from './servers.ts'
import { markdownTable, median } from './table.ts'

export interface PeersOptions extends HttpOptions {
  /** Folder in whose node_modules the package maxmind lies. */
  readonly maxmindFolder: string
}

interface Entrant {
  readonly peer: Peer
  readonly target: Target
}

const ADDRESSES = 1_000_000
const TITLES = [
  'server',
  'requests/s',
  'of nginx',
  'of bare Hono',
  'p50 ms',
  'p99 ms',
  'CPU µs/request',
  'private MB',
  'failed',
]

/** Drives Meridian and its peers in turn, on the same file. Prints a table for each mix. */
export async function benchPeers(options: PeersOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  const entrants: Entrant[] = []
  const cleanUp = async () => {
    await Promise.all(entrants.map(({ target }) => target.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  const onInterrupt = () => void cleanUp().finally(() => process.exit(130))
  process.once('SIGINT', onInterrupt)
  moveToLoadCore()
  try {
    const database = join(options.geoFolder, PREPARED.maxmindCity)
    for (const peer of listPeers({ database, maxmindFolder: options.maxmindFolder })) {
      const target = await startPeer(peer, folder, options.print)
      if (target !== undefined) entrants.push({ peer, target })
    }
    for (const mix of [randomMix(ADDRESSES), zipfMix(ADDRESSES)]) {
      await benchMix(mix, await answering(entrants), folder, options)
    }
  } finally {
    process.off('SIGINT', onInterrupt)
    await cleanUp()
  }
}

/** Says why where it cannot take part: the others do. */
async function startPeer(
  peer: Peer,
  folder: string,
  print: PeersOptions['print'],
): Promise<Target | undefined> {
  if (peer.install !== undefined) {
    print(`Missing: ${peer.name}. To install it: ${peer.install}\n`)
    return undefined
  }
  try {
    const target = { ...(await peer.start(folder)), name: peer.name }
    if (peer.kind === 'bare' || (await looksUp(target))) return target
    await target.stop()
    throw new Error('it does not find the country of an address')
  } catch (error) {
    print(`Not measured: ${peer.name}: ${messageOf(error)}\n`)
    return undefined
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Those that have not died of the load before. */
async function answering(entrants: readonly Entrant[]): Promise<Entrant[]> {
  const answers = await Promise.all(
    entrants.map(({ target }) =>
      checkAnswer(target).then(
        () => true,
        () => false,
      ),
    ),
  )
  return entrants.filter((_, at) => answers[at])
}

/** One that finds nothing is fast. */
async function looksUp(target: Target): Promise<boolean> {
  const answer = await askOnce(target).catch(() => undefined)
  return answer !== undefined && /"US"/.test(await answer.text())
}

async function benchMix(
  mix: Mix,
  entrants: readonly Entrant[],
  folder: string,
  { rounds, seconds, print }: PeersOptions,
): Promise<void> {
  const addressFile = join(folder, 'addresses.txt')
  writeFileSync(addressFile, `${mix.addresses.join('\n')}\n`)
  const results: (readonly Measured[])[] = []
  await driveInRounds(
    entrants.map(({ target }) => target),
    { mix, addressFile, rounds, seconds, onRound: (round) => results.push(round) },
  ).catch((error: unknown) => print(`Not right: ${messageOf(error)}\n`))
  const rows = entrants.map((entrant, at) => {
    const { rate, p50, p99, cpu, failed } = medianOf(results.flatMap((round) => round[at] ?? []))
    const ratios = basesOf(entrant.peer, entrants).map((base) => ratio(results, at, base))
    const memory = memoryMegabytes(entrant.target.pid, 'RssAnon')
    return [entrant.peer.name, rate, ...ratios, p50, p99, cpu, memory, failed]
  })
  print(`\n### ${mix.name} addresses\n\n${markdownTable(TITLES, rows)}`)
}

/** Where nginx and the bare answer on the same runtime stand; -1 for what is not there. */
function basesOf({ runtime }: Peer, entrants: readonly Entrant[]): number[] {
  return [
    entrants.findIndex(({ peer }) => peer.kind === 'nginx'),
    runtime === undefined
      ? -1
      : entrants.findIndex(({ peer }) => peer.kind === 'bare' && peer.runtime === runtime),
  ]
}

/** Of the rates in each round, since all rounds differ: the median. */
function ratio(results: readonly (readonly Measured[])[], at: number, base: number): number {
  const rateAt = (round: readonly Measured[], place: number) => round[place]?.rate ?? Number.NaN
  return median(results.map((round) => rateAt(round, at) / rateAt(round, base)))
}
