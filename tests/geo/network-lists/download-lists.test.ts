import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { OPTIONAL } from '../../../lib/geo/files/source-files.ts'
import { downloadLists, type ListOptions } from '../../../lib/geo/network-lists/download-lists.ts'
import { FREE_LISTS } from '../../../lib/geo/network-lists/free-lists.ts'
import { readListStates } from '../../../lib/geo/network-lists/list-states.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openFileServer } from '../download/file-server.ts'
import { openFile } from '../open-file.ts'
import { LAST_MODIFIED, pathAtMirror, pathOf, publishedFiles } from './published.ts'

const NOW = Date.UTC(2026, 10, 25)
const LATER = NOW + 86_400_000
const NEWER = 'Tue, 24 Nov 2026 10:00:00 GMT'
const parent = tempFolder()
const published = publishedFiles(7)
const server = freshly(openFileServer)
let count = 0
let geo: string
beforeEach(() => {
  for (const [path, file] of published) server.files.set(path, file)
  geo = join(parent, String(count++))
  mkdirSync(geo)
})

function download(options: Partial<ListOptions> = {}) {
  const usual = { mirror: server.origin, acceptSmaller: false, now: NOW, onProgress: () => {} }
  return downloadLists(geo, { ...usual, ...options })
}

/** Fills the folder as a first download does, which is made once: it takes half a second. */
async function putDownloaded(): Promise<void> {
  const kept = join(parent, 'downloaded')
  const copy = { recursive: true, preserveTimestamps: true }
  if (existsSync(kept)) return cpSync(kept, geo, copy)
  await download()
  cpSync(geo, kept, copy)
}

/** The outcome of one list in one line, after a download of all. */
async function outcome(id: string, options: Partial<ListOptions> = {}) {
  const name = FREE_LISTS.find((list) => list.id === id)?.name
  const result = (await download(options)).find((one) => one.name === name)
  assert.ok(result)
  return result.outcome === 'failed' ? result.reason : result.outcome
}

/** Serves a newer version of a list. */
function serve(id: string, text: string, lastModified = NEWER): void {
  server.files.set(pathOf(id), { bytes: Buffer.from(text), lastModified })
}

const compiled = () => join(geo, OPTIONAL.lists)
const vpns = (count: number) =>
  Array.from({ length: count }, (_, n) => `45.${n >> 8}.${n & 255}.0/24\n`).join('')

describe('a list that redirects into the private network', () => {
  it('is refused, and nothing of the answer there is shown', async () => {
    await using admin = await openFileServer()
    admin.intercept = (_, response) => {
      response.end('secret of the private network')
      return true
    }
    server.intercept = ({ url }, response) => {
      response.writeHead(302, { location: `${admin.origin}${url}` }).end()
      return true
    }
    const results = await download()
    assert.equal(results.length, FREE_LISTS.length)
    for (const result of results) {
      assert.equal(result.outcome, 'failed')
      assert.match(result.reason, /redirected to ".*", which is not https on a public address/)
    }
    assert.deepEqual(admin.requests, [])
  })
})

describe('a first download of the free lists', () => {
  it('stores each as published, compiles all and leaves nothing else', async () => {
    const results = await download()
    const outcomes = results.map(({ name, outcome }) => `${name} ${outcome}`)
    const accepted = FREE_LISTS.map(({ name }) => `${name} accepted`)
    assert.deepEqual(outcomes, accepted)
    const stored = FREE_LISTS.map(({ id }) => `list-${id}`)
    const expected = [...stored, 'lists.json', OPTIONAL.lists]
    assert.deepEqual(readdirSync(geo).toSorted(), expected.toSorted())
    for (const { id } of FREE_LISTS) {
      const served = server.files.get(pathOf(id))?.bytes ?? []
      assert.deepEqual(readFileSync(join(geo, `list-${id}`)), Buffer.from(served), id)
    }
    const { metadata, subject } = await openFile(compiled())
    assert.deepEqual([metadata.builtAt, subject], [NOW, 'privacy'])
  })

  it("requests each list once, Azure's after the page that links to it", async () => {
    await download()
    const expected = FREE_LISTS.flatMap(({ id, url, link }) =>
      link === undefined ? [pathOf(id)] : [pathAtMirror(url), pathOf(id)],
    )
    const requested = server.requests.map(({ url }) => url)
    assert.deepEqual(requested, expected)
  })

  it('notes when each was up to date, and its networks', async () => {
    await putDownloaded()
    const modifiedAt = Date.parse(LAST_MODIFIED)
    const expected = { checkedAt: NOW, networks: 1_200, modifiedAt }
    assert.deepEqual(readListStates(geo)['tor'], expected)
  })

  it('goes on without a list that is not there, and compiles the others', async () => {
    server.files.delete(pathOf('tor'))
    assert.match(await outcome('tor'), /^Cannot download http:.*torbulkexitlist: .* answered 404$/)
    assert.ok(statSync(compiled()).size > 0)
    assert.deepEqual(Object.keys(readListStates(geo)['tor'] ?? {}), ['failure'])
  })

  it("reports a page that no longer links to Azure's list", async () => {
    const [azure] = FREE_LISTS.filter(({ id }) => id === 'azure')
    const page = pathAtMirror(azure?.url ?? '')
    server.files.set(page, { bytes: Buffer.from('<a href="https://other.example/x.json">') })
    assert.match(await outcome('azure'), /id=56519: the page has no link to the list$/)
    server.files.delete(page)
    assert.match(await outcome('azure'), /id=56519: the server answered 404$/)
  })

  it('compiles nothing if no list is there', async () => {
    server.files.clear()
    const results = await download()
    assert.ok(results.every(({ outcome }) => outcome === 'failed'))
    assert.equal(results.length, FREE_LISTS.length)
    assert.deepEqual(readdirSync(geo), ['lists.json'])
  })
})

describe('a later download of the free lists', () => {
  it('fetches and compiles nothing if no list has changed', async () => {
    await putDownloaded()
    const before = statSync(compiled()).ino
    const results = await download({ now: LATER })
    assert.ok(results.every(({ outcome }) => outcome === 'up-to-date'))
    assert.equal(statSync(compiled()).ino, before)
    assert.equal(readListStates(geo)['aws']?.checkedAt, LATER)
  })

  it('replaces a list that has changed, and compiles it', async () => {
    await putDownloaded()
    serve('vpn-4', vpns(600))
    assert.equal(await outcome('vpn-4', { now: LATER }), 'accepted')
    assert.equal((await openFile(compiled())).metadata.builtAt, LATER)
    assert.equal(readListStates(geo)['vpn-4']?.networks, 600)
  })

  it('refuses a file that is not a list of networks, says why, and keeps the old list', async () => {
    await putDownloaded()
    const before = readFileSync(join(geo, 'list-vpn-4'))
    serve('vpn-4', '<html>Too many requests</html>')
    const refusal = await outcome('vpn-4', { now: LATER })
    assert.match(refusal, /^1 of its 1 entries are not public networks/)
    assert.deepEqual(readFileSync(join(geo, 'list-vpn-4')), before)
    const { failure, ...state } = readListStates(geo)['vpn-4'] ?? {}
    assert.equal(failure?.at, LATER)
    const kept = { checkedAt: NOW, networks: 900, modifiedAt: Date.parse(LAST_MODIFIED) }
    assert.deepEqual(state, kept, 'its age is that of the version in use')
    serve('vpn-4', vpns(900))
    assert.equal(await outcome('vpn-4', { now: LATER }), 'accepted')
    assert.equal(readListStates(geo)['vpn-4']?.failure, undefined)
  })

  it('refuses a list that has shrunk by more than half, unless an option accepts it', async () => {
    serve('vpn-4', vpns(2_000))
    await download()
    serve('vpn-4', vpns(999), 'Wed, 25 Nov 2026 10:00:00 GMT')
    assert.match(await outcome('vpn-4'), /has 999 networks, less than half of the 2000 before/)
    assert.equal(await outcome('vpn-4', { acceptSmaller: true }), 'accepted')
    assert.equal(await outcome('vpn-4'), 'up-to-date')
  })

  it('stops at a list that never ends', async () => {
    await putDownloaded()
    server.intercept = ({ url }, response) => {
      if (url !== pathOf('tor')) return false
      response.writeHead(200, { 'content-length': 65 * 1024 * 1024 }).write('185.1.2.3\n')
      return true
    }
    assert.match(await outcome('tor'), /it is larger than 67108864 bytes$/)
  })

  it('fetches a stored list again that is missing or damaged', async () => {
    await putDownloaded()
    rmSync(join(geo, 'list-tor'))
    assert.equal(await outcome('tor'), 'accepted')
    rmSync(join(geo, 'list-aws'))
    writeFileSync(join(geo, 'list-aws'), '{}')
    serve('vpn-4', vpns(900))
    const results = await download()
    assert.match(JSON.stringify(results.at(-1)), /list-aws: it has another form .* was deleted/)
    assert.equal(await outcome('aws'), 'accepted')
  })

  it('compiles the stored lists if only the result is missing', async () => {
    await putDownloaded()
    rmSync(compiled())
    await download()
    assert.ok(statSync(compiled()).size > 0)
  })
})
