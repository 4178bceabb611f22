import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { listEntrants } from '../../bench/compare/entrants.ts'
import { tempFolder } from '../support/temp-folder.ts'

describe('listEntrants', () => {
  const maxmindFolder = tempFolder()
  const list = () => {
    const entrants = listEntrants('City.mmdb', { maxmindFolder, geoFolder: maxmindFolder })
    return Object.fromEntries(entrants.map(({ name, install }) => [name, install]))
  }

  it('says how to install what is missing', (t) => {
    const path = process.env['PATH']
    process.env['PATH'] = maxmindFolder
    t.after(() => {
      process.env['PATH'] = path
    })
    const installs = list()
    assert.match(installs['Meridian on Deno'] ?? '', /^npm install .*deno$/)
    assert.match(installs['Meridian on Bun'] ?? '', /^npm install .*bun$/)
    assert.match(installs['maxmind behind Hono on Node'] ?? '', /^npm install .*maxmind/)
  })

  it('finds the package maxmind in the given folder', () => {
    const folder = join(maxmindFolder, 'node_modules', 'maxmind')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'index.js'), '')
    assert.equal(list()['maxmind behind Hono on Node'], undefined)
  })

  it('includes Meridian, maxmind and bare Hono on every runtime', () => {
    for (const runtime of ['Node', 'Deno', 'Bun']) {
      for (const name of ['bare Hono', 'maxmind behind Hono', 'Meridian']) {
        assert.ok(`${name} on ${runtime}` in list(), `${name} on ${runtime}`)
      }
    }
  })
})
