import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fetchFile } from '../../../lib/geo/download/fetch-file.ts'
import { fetchText } from '../../../lib/geo/download/http-request.ts'
import { unpackGzip, unpackTar } from '../../../lib/geo/download/unpack.ts'
import { type FileServer, openFileServer } from './file-server.ts'
import { tarOf } from './providers.ts'

const MOST = 1_000

let folder: string
let server: FileServer
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'meridian-large-'))
  server = await openFileServer()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** Downloads what the server sends to `path`. */
function fetchTo(path: string, send: (response: ServerResponse) => void) {
  server.intercept = (_, response) => {
    send(response)
    return true
  }
  return fetchFile(`${server.origin}/city`, path, { most: MOST })
}

describe('a download', () => {
  it('is refused at once if the server states a larger size', async () => {
    const path = join(folder, 'city')
    const fetched = fetchTo(path, (response) => {
      response.writeHead(200, { 'content-length': MOST + 1 }).flushHeaders()
    })
    await assert.rejects(fetched, /^Error: Cannot download \S+: it is larger than 1000 bytes$/)
    assert.equal(existsSync(path), false)
  })

  it('stops if the body is larger, and leaves no file', async () => {
    const path = join(folder, 'city')
    const fetched = fetchTo(path, (response) => {
      response.setHeader('etag', '"city"')
      response.write(Buffer.alloc(MOST))
      response.end('x')
    })
    await assert.rejects(fetched, /it is larger than 1000 bytes$/)
    assert.equal(existsSync(path), false)
  })

  it('may have exactly the largest size', async () => {
    const path = join(folder, 'city')
    const { outcome } = await fetchTo(path, (response) => response.end(Buffer.alloc(MOST)))
    assert.equal(outcome, 'complete')
  })
})

describe('a checksum', () => {
  it('is refused if it is larger than a megabyte', async () => {
    server.files.set('/city.sha256', { bytes: Buffer.alloc(2 ** 20 + 1) })
    await assert.rejects(fetchText(`${server.origin}/city.sha256`, {}), /larger than 1048576 bytes/)
  })
})

describe('an archive', () => {
  for (const [name, unpack, bytesOf] of [
    ['gzip', unpackGzip, gzipSync],
    ['tar', unpackTar, (bytes: Uint8Array) => tarOf({ 'a/city.mmdb': bytes })],
  ] as const) {
    it(`of ${name} is refused if its database is too large`, async () => {
      const archive = join(folder, name)
      for (const [size, fits] of [
        [MOST, true],
        [MOST + 1, false],
      ] as const) {
        writeFileSync(archive, bytesOf(Buffer.alloc(size)))
        const unpacked = unpack(archive, join(folder, 'out'), MOST)
        if (fits) await unpacked
        else await assert.rejects(unpacked, /^Error: it is larger than 1000 bytes$/)
      }
    })
  }
})
