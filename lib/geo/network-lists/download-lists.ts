import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf } from '../../parts/reason.ts'
import { reasonOfFailure } from '../download/failure.ts'
import { fetchFile } from '../download/fetch-file.ts'
import type { FetchedNetworks, NetworksOptions } from '../download/fetched-networks.ts'
import { failedRequest, fetchText } from '../download/http-request.ts'
import { updateCompiled } from '../download/kept-source.ts'
import { removeFetched } from '../download/partial-file.ts'
import { putInPlace } from '../files/replace-file.ts'
import { OPTIONAL } from '../files/source-files.ts'
import { compileLists, type ReadList } from './compile-lists.ts'
import { FREE_LISTS, type FreeList } from './free-lists.ts'
import { type ListState, readListStates, writeListStates } from './list-states.ts'
import { checkSize, readNetworks } from './read-networks.ts'

export interface ListOptions extends NetworksOptions {
  /** A server that has each list at the host and path of its owner; undefined: the owners themselves. */
  readonly mirror: string | undefined
}

/** Larger than any of the lists. */
const MAX_BYTES = 64 * 1024 * 1024

const COMPILED = { file: OPTIONAL.lists, name: 'Compiled lists' }

/**
 * Downloads the free lists into `directory` and compiles them into one database. If a list cannot be downloaded
 * or makes no sense, its earlier version stays in use.
 */
export async function downloadLists(
  directory: string,
  options: ListOptions,
): Promise<FetchedNetworks[]> {
  const states = readListStates(directory)
  const results: FetchedNetworks[] = []
  for (const list of FREE_LISTS) {
    const { id, name } = list
    const path = storedPath(directory, list)
    const before = existsSync(path) ? (states[id] ?? {}) : {}
    try {
      const { result, state } = await downloadList(directory, { list, before }, options)
      states[id] = state
      results.push({ name, ...result })
    } catch (error) {
      const reason = reasonOfFailure(path, error)
      states[id] = { ...before, failure: { at: options.now, reason } }
      results.push({ name, outcome: 'failed', reason })
    }
  }
  await writeListStates(directory, states)
  const isNew = results.some(({ outcome }) => outcome === 'accepted')
  if (!isNew && existsSync(join(directory, OPTIONAL.lists))) return results
  return [
    ...results,
    ...(await updateCompiled(directory, COMPILED, () => compileStored(directory, options.now))),
  ]
}

interface ListWithState {
  readonly list: FreeList
  /** Empty if no version is stored. */
  readonly before: ListState
}

async function downloadList(
  directory: string,
  { list, before }: ListWithState,
  options: ListOptions,
) {
  const { mirror, acceptSmaller, now, onProgress, idleMs } = options
  const url = await findUrl(list, mirror, idleMs)
  const fetched = join(directory, `.download-list-${list.id}`)
  const answer = await fetchFile(url, fetched, {
    idleMs,
    modifiedSince: before.modifiedAt,
    most: MAX_BYTES,
    onShare: (share) => onProgress(`Download ${list.name}`, share),
  })
  if (answer.outcome === 'refused') throw refusal(url, answer.status)
  if (answer.outcome === 'not-modified') {
    const { failure: _, ...state } = before
    return { result: { outcome: 'up-to-date' }, state: { ...state, checkedAt: now } } as const
  }
  try {
    const networks = readNetworks(list, await readFile(fetched, 'utf8')).length
    if (!acceptSmaller) checkSize(networks, before.networks)
    await putInPlace(fetched, directory, storedName(list))
    const { modifiedAt } = answer
    const state = { checkedAt: now, networks, ...(modifiedAt !== undefined && { modifiedAt }) }
    return { result: { outcome: 'accepted', networks }, state } as const
  } finally {
    await removeFetched(fetched)
  }
}

/** The URL of the list, which may be on a page that changes. */
async function findUrl(
  { url, link }: FreeList,
  mirror: string | undefined,
  idleMs: number | undefined,
): Promise<string> {
  const first = atMirror(url, mirror)
  if (link === undefined) return first
  const page = await fetchText(first, { idleMs })
  if (typeof page === 'number') throw refusal(first, page)
  const found = link.exec(page)?.[0]
  if (found !== undefined) return atMirror(found, mirror)
  throw failedRequest(first, new Error('the page has no link to the list'))
}

function refusal(url: string, status: number): Error {
  return failedRequest(url, new Error(`the server answered ${status}`))
}

function atMirror(url: string, mirror: string | undefined): string {
  if (mirror === undefined) return url
  const { host, pathname, search } = new URL(url)
  return `${mirror}/${host}${pathname}${search}`
}

/** File name of the last accepted version of a list, which is in the form of its owner. */
function storedName({ id }: FreeList): string {
  return `list-${id}`
}

function storedPath(directory: string, list: FreeList): string {
  return join(directory, storedName(list))
}

/** Compiles the stored lists; undefined if there are none. `now` is in epoch milliseconds. */
async function compileStored(directory: string, now: number): Promise<Uint8Array | undefined> {
  const lists: ReadList[] = []
  for (const list of FREE_LISTS) {
    const path = storedPath(directory, list)
    if (existsSync(path)) lists.push({ list, networks: await readStored(path, list) })
  }
  return lists.length === 0 ? undefined : compileLists(lists, now)
}

/** Deletes a damaged file, so that the next download replaces it. */
async function readStored(path: string, list: FreeList) {
  try {
    return readNetworks(list, await readFile(path, 'utf8'))
  } catch (cause) {
    await rm(path, { force: true })
    throw new Error(`Cannot use ${path}: ${reasonOf(cause)}; it was deleted, download again`, {
      cause,
    })
  }
}
