import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { fetchFile } from '../../../lib/geo/download/fetch-file.ts'
import { fetchText } from '../../../lib/geo/download/http-request.ts'
import { unpackGzip, unpackTar } from '../../../lib/geo/download/unpack.ts'
import { ON_POSIX } from '../../support/runtime.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openFileServer } from './file-server.ts'
import { tarOf } from './providers.ts'

const MOST = 1_000

const folder = tempFolder()
const server = freshly(openFileServer)

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
    const path = join(folder, 'stated')
    const fetched = fetchTo(path, (response) => {
      response.writeHead(200, { 'content-length': MOST + 1 }).flushHeaders()
    })
    await assert.rejects(fetched, /^Error: Cannot download \S+: it is larger than 1000 bytes$/)
    assert.equal(existsSync(path), false)
  })

  it('stops if the body is larger, and leaves no file', async () => {
    const path = join(folder, 'larger')
    const fetched = fetchTo(path, (response) => {
      response.setHeader('etag', '"city"')
      response.write(Buffer.alloc(MOST))
      response.end('x')
    })
    await assert.rejects(fetched, /it is larger than 1000 bytes$/)
    assert.equal(existsSync(path), false)
  })

  it('leaves no file if it is cut and the server has not stated its size', async () => {
    const path = join(folder, 'cut')
    const fetched = fetchTo(path, (response) => {
      response.setHeader('etag', '"city"')
      response.write(Buffer.alloc(MOST), () => response.destroy())
    })
    await assert.rejects(fetched, /^Error: Cannot download (?!.*resume)/)
    assert.equal(existsSync(path), false)
  })

  it('may have exactly the largest size', async () => {
    const path = join(folder, 'largest')
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
      const unpackOf = (size: number) => {
        writeFileSync(archive, bytesOf(Buffer.alloc(size)))
        return unpack(archive, join(folder, `${name}-${size}`), MOST)
      }
      await unpackOf(MOST)
      await assert.rejects(unpackOf(MOST + 1), /^Error: it is larger than 1000 bytes$/)
    })
  }
})

describe('unpackTar', () => {
  it(
    'fails only once its output is closed, so that the caller can remove it',
    ON_POSIX,
    async () => {
      const archive = join(folder, 'archive.tar')
      writeFileSync(archive, tarOf({ 'a/b.txt': 'text' }))
      // A pipe opens for writing once somebody reads it.
      const slow = join(folder, 'slow.mmdb')
      execFileSync('mkfifo', [slow])
      let isDone = false
      const unpacked = unpackTar(archive, slow).finally(() => {
        isDone = true
      })
      unpacked.catch(() => {})
      await sleep(200)
      const wasDone = isDone
      await using _reader = await open(slow)
      await assert.rejects(unpacked, /holds 0 \.mmdb files/)
      assert.equal(wasDone, false)
    },
  )
})
