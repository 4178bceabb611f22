import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { readConfig } from '../../lib/config/config.ts'
import type { Answer } from '../../lib/geo/accuracy/answer.ts'
import { createAsk } from '../../lib/geo/accuracy/ask.ts'
import { readGazetteer } from '../../lib/geo/accuracy/gazetteer-file.ts'
import { measureShares, observe } from '../../lib/geo/accuracy/measure-shares.ts'
import { SEED } from '../../lib/geo/accuracy/pick-address.ts'
import { readTruth, type Truth } from '../../lib/geo/accuracy/read-truth.ts'
import { makeReport } from '../../lib/geo/accuracy/report.ts'
import { type ServedFile, suggestOrder } from '../../lib/geo/accuracy/suggest.ts'
import { needsGazetteer, type Samples, takeSamples } from '../../lib/geo/accuracy/take-samples.ts'
import type { GeoDatabase } from '../../lib/geo/database.ts'
import { PREPARED } from '../../lib/geo/files/prepare.ts'
import { createRegionCode, type RegionNames, readRegions } from '../../lib/geo/files/regions.ts'
import { OPTIONAL } from '../../lib/geo/files/source-files.ts'
import type { Library } from '../../lib/geo/library.ts'
import { reasonOf } from '../../lib/parts/reason.ts'
import { mapInSlices } from '../../lib/parts/time-slices.ts'
import { readBytes, STDIN } from '../address-lists/parts/input.ts'
import { openOwnGeo } from '../address-lists/parts/open-own-geo.ts'
import { showProgress } from '../address-lists/parts/progress.ts'
import { createRandom } from '../parts/random.ts'
import { isoDay } from '../parts/times.ts'
import type { Task } from './options.ts'

/** All figures, and what they were measured with. */
export type Measurement = Awaited<ReturnType<typeof measure>>

/** Of the intervals: any number would do, but always the same one. */
const RESAMPLING_SEED = 7
const newRandom = () => createRandom(RESAMPLING_SEED)

/** Reads the truth, looks up its addresses in the databases here, and computes all figures. */
export async function measure({ input, suggest }: Task) {
  const truth = await loadTruth(input)
  const config = readConfig(process.env)
  using geo = await openOwnGeo(config)
  const regionNames = readRegions(join(config.dataDir, 'geo', PREPARED.regions))
  const { samples, covered, cities, gazetteer } = sample(truth, regionNames)
  const knownRegions = new Set(Object.keys(regionNames))
  const answered = await lookUp(samples, geo.places())
  const files = suggest ? servedFiles(geo, join(config.dataDir, 'geo')) : undefined
  const suggestion = files && (await findOrder(samples, files, answered.merged.answers))
  return {
    truth: {
      ...countPrefixes(samples),
      groups: truth.hasGroups ? new Set(samples.map(({ group }) => group)).size : 0,
      form: truth.form,
      seed: SEED,
      skipped: { ...truth.skipped, covered },
      examples: truth.examples,
      cities: { ...cities, gazetteer },
    },
    databases: geo.places().map(toDatabase),
    shares: measureShares(observe(samples, answered, { knownRegions })),
    ...makeReport(samples, answered, {
      knownRegions,
      year: new Date().getUTCFullYear(),
      newRandom,
    }),
    ...(suggestion && {
      suggestion: { ...suggestion, replacesBundled: config.geo.files === undefined },
    }),
  }
}

async function loadTruth(path: string): Promise<Truth> {
  const bytes = await buffer(readBytes(path))
  try {
    return readTruth(bytes)
  } catch (cause) {
    const name = path === STDIN ? 'stdin' : path
    throw new Error(`Cannot measure with ${name}: ${reasonOf(cause)}`, { cause })
  }
}

function sample(truth: Truth, regionNames: RegionNames) {
  const isNeeded = needsGazetteer(truth)
  const findCity = isNeeded ? readGazetteer(createRegionCode(regionNames)) : undefined
  const installed = findCity === undefined ? 'not installed' : 'used'
  return {
    ...takeSamples(truth, findCity),
    gazetteer: isNeeded ? installed : 'not needed',
  }
}

async function lookUp(samples: Samples['samples'], databases: readonly GeoDatabase[]) {
  const { ask, answered } = createAsk(databases)
  using progress = showProgress('addresses')
  await mapInSlices(samples, ({ address }) => {
    ask(address)
    progress.add(1)
  })
  return answered()
}

/** Files that are not in MERIDIAN_GEO, and have their own place before or after it. */
const UNMOVABLE = [OPTIONAL.overlay, OPTIONAL.geofeeds, OPTIONAL.lists]

function servedFiles(geo: Library, directory: string): ServedFile[] {
  const unmovable = UNMOVABLE.map((name) => join(directory, name))
  return geo.files().map(({ file: { path }, database: { provider, product, subject, find } }) => {
    return { path, provider, product, subject, find, isMovable: !unmovable.includes(path) }
  })
}

async function findOrder(
  samples: Samples['samples'],
  files: readonly ServedFile[],
  present: readonly Answer[],
) {
  using progress = showProgress('orders')
  return suggestOrder(samples, files, {
    present,
    newRandom,
    onOrder: () => {
      progress.add(1)
      return setImmediate()
    },
  })
}

function countPrefixes(samples: Samples['samples']) {
  const ipv4 = samples.filter(({ address }) => address.version === 4).length
  return { prefixes: samples.length, ipv4, ipv6: samples.length - ipv4 }
}

function toDatabase({ name, provider, product, metadata }: GeoDatabase) {
  return { name, provider, product, built: isoDay(metadata.builtAt) }
}
