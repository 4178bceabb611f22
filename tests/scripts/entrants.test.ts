import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { listPeers } from '../../scripts/bench/peer-list.ts'
import { tempFolder } from '../temp-folder.ts'

describe('listPeers', () => {
  const maxmindFolder = tempFolder()
  const list = () => {
    const peers = listPeers({ database: 'City.mmdb', maxmindFolder })
    return Object.fromEntries(peers.map(({ name, install }) => [name, install]))
  }

  it('says how to install what is missing', (t) => {
    const path = process.env['PATH']
    process.env['PATH'] = maxmindFolder
    t.after(() => {
      process.env['PATH'] = path
    })
    const installs = list()
    assert.match(installs['echoip'] ?? '', /^go install .*echoip@latest/)
    assert.match(installs['Meridian on Deno'] ?? '', /^npm install .*deno$/)
    assert.match(installs['Meridian on Bun'] ?? '', /^npm install .*bun$/)
    assert.match(installs['maxmind behind Hono on Node'] ?? '', /^npm install .*maxmind/)
  })

  it('finds the package maxmind in the folder that is named', () => {
    const folder = join(maxmindFolder, 'node_modules', 'maxmind')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'index.js'), '')
    assert.equal(list()['maxmind behind Hono on Node'], undefined)
  })

  it('compares Meridian, maxmind and a bare answer on every runtime', () => {
    for (const runtime of ['Node', 'Deno', 'Bun']) {
      for (const name of ['bare Hono', 'maxmind behind Hono', 'Meridian']) {
        assert.ok(`${name} on ${runtime}` in list(), `${name} on ${runtime}`)
      }
    }
  })
})
