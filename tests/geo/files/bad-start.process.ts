import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { withWorkFolder } from '../../../lib/backup/work-folder.ts'
import { until } from '../../billing/server-shop.ts'
import { mmdbBytes } from '../../support/geo-files.ts'
import { newDataFolder, type Running, runScript, startServer } from '../../support/process.ts'

/* A server starts whose database is missing or bad, or whose last run was killed. */

const { dataDir, settings: folder, remove } = newDataFolder()
const geo = join(dataDir, 'geo')
const city = join(dataDir, 'City.mmdb')
const settings = { ...folder, MERIDIAN_GEO: city, MERIDIAN_DEMO: '0' }
const bytes = mmdbBytes({ '81.0.0.0/8': { country: { iso_code: 'GB' } } })

let server: Running | undefined
let key = ''
before(async () => {
  writeFileSync(city, bytes)
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first']
  key = (await runScript(args, settings)).stdout.trim()
})
afterEach(() => server?.stop('SIGKILL'))
after(remove)

async function get(path: string): Promise<string> {
  const answer = await fetch(`${server?.url}${path}`, { headers: { 'x-api-key': key } })
  return `${answer.status} ${await answer.text()}`
}

describe('a server', () => {
  it('names a database without a usable version, and does not start', async () => {
    const bad = join(dataDir, 'bad.mmdb')
    writeFileSync(bad, bytes.subarray(0, 200))
    for (const [name, reason] of [
      [bad, /^not a MaxMind DB/],
      [join(dataDir, 'City-2026-12.mmdb'), /^there is no such file/],
    ] as const) {
      const files = { ...settings, MERIDIAN_GEO: `${name},${city}`, PORT: '0' }
      rmSync(geo, { recursive: true, force: true })
      const { code, stderr } = await runScript(['server.ts'], files)
      assert.equal(code, 1)
      const beginning = `Cannot use the database ${name}: `
      assert.equal(stderr.slice(0, beginning.length), beginning)
      assert.match(stderr.slice(beginning.length), reason)
      assert.match(stderr, /; replace it, or change MERIDIAN_GEO, which names it\n$/)
    }
    assert.equal(existsSync(geo), false, 'nothing was prepared for nothing')
  })

  it('serves the last usable version of a database, and the doctor reports it', async () => {
    server = await startServer(settings)
    await server.stop('SIGKILL')
    writeFileSync(city, 'no database')
    server = await startServer(settings)
    assert.match(await get('/v1/ip/81.2.69.160'), /^200 .*"GB"/)
    assert.match(await get('/health/ready'), /^200 .*"geolocation":true/)
    const { output } = server
    await until(() => /City\.mmdb.*"msg":"serving the last usable version of/.test(output()))
    const { code, stdout } = await runScript(['scripts/doctor.ts'], settings)
    assert.equal(code, 1)
    assert.match(
      stdout,
      /wrong +Geo files +Cannot use .*City\.mmdb: not a MaxMind DB.*\n.*a server/,
    )
  })

  it('removes the copies of databases of other names', async () => {
    writeFileSync(city, bytes)
    const earlier = join(dataDir, 'City-2026-10.mmdb')
    renameSync(city, earlier)
    server = await startServer({ ...settings, MERIDIAN_GEO: earlier })
    await server.stop('SIGKILL')
    renameSync(earlier, city)
    server = await startServer(settings)
    const left = readdirSync(geo).filter((name) => /^copy-/.test(name))
    assert.equal(left.length, 1, left.join(', '))
    await server.stop('SIGKILL')
  })

  it('does not start without a file that MERIDIAN_GEO names, though a copy is kept', async () => {
    rmSync(city)
    const { code, stderr } = await runScript(['server.ts'], { ...settings, PORT: '0' })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^Cannot use the database .*City\.mmdb: .*; replace it, or change MERIDIAN_GEO/,
    )
    writeFileSync(city, bytes)
  })

  it('removes the copies of database and secrets that killed commands left', async () => {
    const folders = [dataDir, join(dataDir, 'backups')]
    const left = folders.map((parent) => join(parent, '.partial-backup-0a1b2c-locked'))
    for (const path of left) mkdirSync(path, { recursive: true })
    for (const path of left) writeFileSync(join(path, 'app.db'), '')
    left.push(join(dataDir, 'secrets.json.4194305.0a1b2c3d'))
    const copy = join(dataDir, 'secrets.json.20261122.bak')
    writeFileSync(copy, '')
    writeFileSync(left.at(-1) ?? '', '')
    await withWorkFolder(dataDir, async (running) => {
      server = await startServer({ ...settings, MERIDIAN_GEO: folder.MERIDIAN_GEO })
      assert.deepEqual(left.filter(existsSync), [])
      assert.ok(existsSync(running))
    })
    assert.ok(existsSync(copy))
  })
})
