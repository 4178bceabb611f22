import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, readConfig } from '../lib/config/config.ts'
import { makeDataDir } from '../lib/config/data-dir.ts'
import { openDatabase } from '../lib/geo/database.ts'
import { type Downloaded, downloadAll } from '../lib/geo/download/download.ts'
import type { FetchedNetworks } from '../lib/geo/download/fetched-networks.ts'
import { hasAccount } from '../lib/geo/download/sources.ts'
import { type OnProgress, PREPARED } from '../lib/geo/files/prepare.ts'
import { readRegionNames } from '../lib/geo/files/regions.ts'
import { removeAbandoned, replaceFile } from '../lib/geo/files/replace-file.ts'
import { OPTIONAL, type SourceFile } from '../lib/geo/files/source-files.ts'
import { readGeofeedStates } from '../lib/geo/geofeeds/geofeed-states.ts'
import { ignoredLines } from '../lib/geo/geofeeds/ignored-lines.ts'
import { updateGeofeeds } from '../lib/geo/geofeeds/update-geofeeds.ts'
import { downloadLists } from '../lib/geo/network-lists/download-lists.ts'
import { triedLists } from '../lib/geo/network-lists/list-states.ts'
import { findSourceFiles, prepareGeo } from '../lib/geo/open-geo.ts'
import { compileOverlay } from '../lib/geo/overlay/overlay.ts'
import { createProgress } from '../lib/geo/progress.ts'
import { usageText } from '../lib/parts/clone-or-package.ts'
import { reasonOf } from '../lib/parts/reason.ts'
import { type GeoData, geoJson } from './geo/geo-json.ts'
import { tableOfGeofeeds, tableOfLists } from './geo/list-table.ts'
import { compileAtlas } from './parts/compile-atlas.ts'
import { listDatabases, tableOfDatabases } from './parts/geo-files.ts'
import { FLAG, readArguments, TEXT } from './parts/options.ts'
import { report, run, UsageError } from './parts/run.ts'
import { isoDay } from './parts/times.ts'

const USAGE = `Usage: ${usageText('geo', '[options]')}
  (none)               prepare the bundled databases and list the databases that a server uses
  --download           first download DB-IP's file of the month, the free lists of clouds, VPNs,
                       relays and Tor, the geofeeds and, if MERIDIAN_MAXMIND_ACCOUNT_ID and
                       MERIDIAN_MAXMIND_LICENSE_KEY are set, MaxMind's files; resumes an
                       interrupted download
  --accept-smaller     with it: accept a list or geofeed that has less than half of the
                       networks that it had before
  --overlay FILE.csv   first add your own networks, one per line; they override all databases:
                       10.0.0.0/8,country=DE,region=DE-BE,city=Berlin,asn=AS64500
  --remove-overlay     first remove your own networks
  --atlas              only combine the databases into one index for faster look-ups;
                       a running server does this itself
  --update             only download, and report only failures; a running server does this itself
                       once a day, unless MERIDIAN_GEO_DOWNLOAD is 0
  --geofeeds           only update the geofeeds, and report only failures; a running server does
                       this itself once a day and when their files have changed
  --ignored            only list all lines of geofeeds that are left out, and why
  --json               list the databases, free lists and geofeeds as JSON
  --until-stdin-ends   stop as soon as stdin ends, as when the server that runs this is killed
  --help               show this help
The exit code is 1 if a file cannot be downloaded or used.
`

const OPTIONS = {
  download: FLAG,
  'accept-smaller': FLAG,
  overlay: TEXT,
  'remove-overlay': FLAG,
  atlas: FLAG,
  update: FLAG,
  geofeeds: FLAG,
  ignored: FLAG,
  json: FLAG,
  'until-stdin-ends': FLAG,
}
type Options = ReturnType<typeof readArguments<{ options: typeof OPTIONS }>>['values']

await run(async () => {
  const { values } = readArguments({ options: OPTIONS }, USAGE)
  if (values['until-stdin-ends']) exitWhenStdinEnds()
  if (values.overlay !== undefined && values['remove-overlay']) {
    throw new UsageError('--overlay and --remove-overlay cannot be used together', USAGE)
  }
  const isAlone = values.update || values.atlas || values.geofeeds || values.ignored
  const { overlay, download, json, 'remove-overlay': removes } = values
  if (isAlone && (overlay !== undefined || removes || download || json)) {
    throw new UsageError(
      '--update, --atlas, --geofeeds and --ignored cannot be used with other changes or --json',
      USAGE,
    )
  }
  const config = readConfig(process.env)
  await (values.ignored ? listIgnored(config) : runGeo(values, config))
})
// Reading stdin would keep the process alive.
if (process.argv.includes('--until-stdin-ends')) process.exit()

async function runGeo(options: Options, config: Config): Promise<void> {
  makeDataDir(config.dataDir)
  const directory = join(config.dataDir, 'geo')
  if (options.update) {
    await fetchAll(directory, config, { onProgress: () => {} })
    return
  }
  const onProgress = options['until-stdin-ends'] ? () => {} : createProgress(process.stderr)
  const sources = { directory, ...config.geo }
  // A running server has prepared its files, and this process may have too little memory for new ones.
  const isPrepared = options['until-stdin-ends'] ?? false
  if (isPrepared) removeAbandoned(directory)
  else await prepareGeo({ ...sources, onProgress })
  if (options.geofeeds) {
    const acceptSmaller = options['accept-smaller']
    await fetchGeofeeds(directory, config, { onProgress: () => {}, acceptSmaller })
    return
  }
  const findFiles = () => findSourceFiles(sources)
  if (options.atlas) {
    await compileAtlas(config, findFiles, onProgress)
    return
  }
  if (options.overlay !== undefined) await writeOverlay(directory, options.overlay)
  if (options['remove-overlay']) await removeOverlay(directory)
  if (options.download) await download(directory, config, options)
  showData(await readData(directory, config, findFiles()), options)
}

async function listIgnored({ dataDir, geo }: Config): Promise<void> {
  const lines = await ignoredLines(join(dataDir, 'geo'), geo.geofeeds)
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

/** Prints the databases, the free lists and the geofeeds. */
function showData(data: GeoData, { json }: Options): void {
  const { databases, lists, feeds } = data
  const { table, problems } = tableOfDatabases(databases)
  if (json) {
    process.stdout.write(geoJson(data))
    if (problems.length > 0) process.exitCode = 1
    return
  }
  process.stdout.write(table)
  if (lists.length > 0) process.stdout.write(`\n${tableOfLists(lists)}`)
  if (feeds.length > 0) process.stdout.write(`\n${tableOfGeofeeds(feeds)}`)
  for (const problem of problems) fail(problem)
}

async function readData(
  directory: string,
  { geo }: Config,
  files: readonly SourceFile[],
): Promise<GeoData> {
  return {
    databases: await listDatabases(files),
    lists: triedLists(directory),
    feeds: geo.geofeeds.length === 0 ? [] : readGeofeedStates(directory).feeds,
  }
}

async function writeOverlay(directory: string, csvPath: string): Promise<void> {
  const bytes = compileOverlay(readCsv(csvPath), {
    builtAt: Date.now(),
    regionNames: readRegionNames(join(directory, PREPARED.regions)),
  })
  removeAbandoned(directory)
  const path = await replaceFile(directory, OPTIONAL.overlay, async (partial) => {
    await writeFile(partial, bytes)
    await openDatabase(partial, { map: false, regionCode: () => undefined })
  })
  reportChange(`Compiled ${csvPath} to ${path}`)
}

function readCsv(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`Cannot read the overlay: ${reasonOf(cause)}`, { cause })
  }
}

async function removeOverlay(directory: string): Promise<void> {
  const path = join(directory, OPTIONAL.overlay)
  const existed = existsSync(path)
  await rm(path, { force: true })
  if (existed) reportChange(`Removed ${path}`)
  else report('There is no overlay')
}

async function download(directory: string, config: Config, options: Options): Promise<void> {
  if (!hasAccount(config.download)) {
    report('MaxMind: set MERIDIAN_MAXMIND_ACCOUNT_ID and MERIDIAN_MAXMIND_LICENSE_KEY to download')
  }
  const fetching = {
    onProgress: createProgress(process.stderr),
    acceptSmaller: options['accept-smaller'],
  }
  const downloaded = await fetchAll(directory, config, fetching)
  const geofeeds = await fetchGeofeeds(directory, config, fetching)
  reportResults(downloaded, 'Compiled the lists')
  reportResults(geofeeds, 'Compiled the geofeeds')
  if (config.geo.files !== undefined) {
    report(
      'MERIDIAN_GEO is set: a server does not use the downloaded files, except lists and geofeeds',
    )
  }
}

/** Prints what has succeeded, and `compiled` if there was something to compile. */
function reportResults(results: readonly Fetched[], compiled: string): void {
  for (const result of results) {
    const { name, outcome } = result
    if (outcome === 'up-to-date') report(`${name}: up to date`)
    if (outcome === 'accepted') report(`${name}: downloaded, ${result.networks} networks`)
    if (outcome === 'installed') {
      reportChange(`${name}: downloaded, built ${isoDay(result.builtAt)}`)
    }
  }
  if (results.some(({ outcome }) => outcome === 'accepted')) reportChange(compiled)
}

type Fetched = Downloaded | FetchedNetworks

interface FetchAllOptions {
  readonly onProgress: OnProgress
  readonly acceptSmaller?: boolean | undefined
}

/** Downloads the files and lists, and reports failures. */
async function fetchAll(directory: string, { download }: Config, options: FetchAllOptions) {
  const { onProgress, acceptSmaller = false } = options
  const now = Date.now()
  const files = await downloadAll(directory, { ...download, now, onProgress })
  const { lists } = download
  const results = [
    ...files,
    ...(lists === null
      ? []
      : await downloadLists(directory, { ...lists, acceptSmaller, now, onProgress })),
  ]
  reportFailures(results)
  return results
}

/** Updates the geofeeds, if any, and reports failures. */
async function fetchGeofeeds(directory: string, { geo }: Config, options: FetchAllOptions) {
  const { onProgress, acceptSmaller = false } = options
  if (geo.geofeeds.length === 0) return []
  const results = await updateGeofeeds(directory, geo.geofeeds, {
    onProgress,
    acceptSmaller,
    now: Date.now(),
  })
  reportFailures(results)
  return results
}

function reportFailures(results: readonly Fetched[]): void {
  for (const result of results) {
    if (result.outcome === 'failed') fail(`${result.name}: ${result.reason}`)
  }
}

function reportChange(text: string): void {
  report(`${text}; a running server notices within a few seconds`)
}

function fail(text: string): void {
  report(text)
  process.exitCode = 1
}

/**
 * Ends this process with code 1 as soon as its stdin ends. So it ends together with the process
 * that holds the other end of the pipe, even if that one is killed. Long computations must yield to
 * the event loop from time to time. Call `process.exit` when the work is done: reading keeps the
 * process alive.
 */
function exitWhenStdinEnds(): void {
  const exit = () => process.exit(1)
  process.stdin.on('end', exit).on('error', exit).resume()
}
