import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { VERSION } from '../../lib/config/version.ts'
import type { RunScript } from '../../lib/parts/process/run-script.ts'
import { startLitestreamServer } from '../doctor/litestream-server.ts'
import { onlyOnSqlite } from '../support/database/test-database.ts'
import { type AppOptions, makeApp, NOON } from '../support/helpers.ts'
import { ON_POSIX } from '../support/runtime.ts'
import { closedAfterTest } from '../support/scene/freshly.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { actionsOf } from './operator.ts'

const closed = closedAfterTest()

const PAGE = '/app/operate/system'
const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

/** A service, its operator, and what the operator does on the page. */
async function open(options: AppOptions = {}) {
  const app = closed(await makeApp(options))
  const olga = app.operator('olga')
  await olga.enter()
  return {
    app,
    show: async () => (await olga.visit(PAGE)).html,
    act: (name: 'backup' | 'doctor') => olga.submit(`${PAGE}/${name}`),
    settled: (name: 'backup' | 'doctor') => app.services.operatorJobs[name].settled(),
    actions: async () => (await actionsOf(app)).map(({ action }) => action),
  }
}

/** Runs the real commands, as a server does, but with the settings of the tests. */
function realCommands() {
  const env = { MERIDIAN_BACKUP_DIR: join(tempFolder(), 'backups') }
  let settings = {}
  const runScript: RunScript = async (name, ...args) => {
    const command = [...process.execArgv, join(root, `scripts/${name}.ts`), ...args]
    return (await run(process.execPath, command, { env: { ...process.env, ...settings } })).stdout
  }
  const use = (dataDir: string) => {
    settings = { ...env, MERIDIAN_DATA_DIR: dataDir }
  }
  return { env, use, runScript }
}

const ofFile = onlyOnSqlite('the command and Litestream copy a database file')
const ofLitestream = { skip: ofFile.skip || ON_POSIX.skip }

describe('the page of the system', () => {
  it('shows health, version, runtime, memory and disk', async () => {
    const { show } = await open()
    const html = await show()
    assert.match(html, /badge good">Fine<.*Look-ups: fine.*Database: fine/)
    assert.match(html, new RegExp(`<dt>Version</dt><dd>${VERSION.replaceAll('.', '\\.')}, API`))
    assert.match(html, /<dt>Runtime<\/dt><dd>(Node\.js|Deno|Bun) \d/)
    assert.match(html, /<dt>Disk<\/dt><dd>\d+\.\d\u00a0[MG]B free; database \d/)
    assert.match(html, /<dt>Memory of the machine<\/dt><dd>\d+\.\d\u00a0[MG]B available of/)
    assert.match(html, /The database is not replicated/)
  })

  it('lists the latest backups', async () => {
    const backups = join(tempFolder(), 'backups')
    const { show } = await open({ env: { MERIDIAN_BACKUP_DIR: backups } })
    assert.match(await show(), /There is no backup in .*backups/)
    mkdirSync(backups)
    for (const day of [10, 11, 12, 13, 14, 15]) {
      writeFileSync(join(backups, `meridian-2026-01-${day}T030000Z.tar.gz`), '')
    }
    const html = await show()
    assert.match(html, /Backups in the folder: 6\..*>15 Jan, 03:00<.*>11 Jan, 03:00</)
    assert.doesNotMatch(html, />10 Jan, 03:00</)
  })

  it("shows how far Litestream's copy is, and when it stops", ofLitestream, async () => {
    const { app, show } = await open({ env: { MERIDIAN_REPLICATED: '1' } })
    assert.match(await show(), /badge near">Warning<.*Litestream does not answer: .*ENOENT/)
    await using litestream = await startLitestreamServer(app.dataDir)
    litestream.answer({ syncedAt: NOON - 2_000, read: 2 ** 40 })
    assert.match(await show(), /completed the copy 2 seconds ago; it has read the whole log/)
    litestream.answer({ syncedAt: NOON - 61_000, read: 0 })
    assert.match(
      await show(),
      /badge near">Warning<.*copy 61 seconds ago; \d+\.\d kB of the log wait/,
    )
  })
})

describe('the doctor on the page', () => {
  it('shows its findings with their advice, and is audited', async () => {
    const found = [
      { check: 'Disk', state: 'ok', text: '9.0 GB are free' },
      { check: 'Backups', state: 'warning', text: 'There is no backup', advice: 'make one' },
    ]
    const runScript = async () => JSON.stringify(found)
    const { show, act, settled, actions } = await open({ runScript })
    assert.equal((await act('doctor')).location, PAGE)
    await settled('doctor')
    const html = await show()
    assert.match(html, /<strong>Disk<\/strong><span class="badge good">Fine<.*9.0 GB are free/)
    assert.match(html, /badge near">Warning<.*There is no backup<\/p><p class="soft">Make one/)
    assert.deepEqual(await actions(), ['run_doctor'])
  })

  it('runs in another process, and only once at a time', async () => {
    const ended = Promise.withResolvers<string>()
    let runs = 0
    const runScript = () => {
      runs += 1
      return ended.promise
    }
    const { show, act, settled, actions } = await open({ runScript })
    await act('doctor')
    await act('doctor')
    assert.match(await show(), /id="doctor" class="job" data-refresh="2".*has been running since/)
    ended.resolve('[]')
    await settled('doctor')
    assert.doesNotMatch(await show(), /data-refresh/)
    assert.equal(runs, 1)
    assert.deepEqual(await actions(), ['run_doctor'])
  })

  it('shows why it could not run', async () => {
    const { show, act, settled } = await open()
    await act('doctor')
    await settled('doctor')
    assert.match(await show(), /role="alert">Failed .*: This server starts no other processes/)
  })
})

describe('a backup that an operator starts', () => {
  it('is made beside the server, listed and audited; the doctor finds it', ofFile, async () => {
    const commands = realCommands()
    const { app, show, act, settled, actions } = await open(commands)
    commands.use(app.dataDir)
    assert.equal((await act('backup')).location, PAGE)
    await settled('backup')
    const html = await show()
    assert.match(html, /The last backup ended/)
    const [path = ''] = /[^>]*backups[\\/]meridian-[^<]*\.tar\.gz/.exec(html) ?? []
    assert.ok(existsSync(path), html)
    await act('doctor')
    await settled('doctor')
    assert.match(await show(), /<strong>Backups<\/strong>.*<p>The latest backup in/)
    assert.deepEqual(await actions(), ['create_backup', 'run_doctor'])
  })

  it('shows why it failed: the disk is read-only', async () => {
    const reason = 'Cannot write /backups: EROFS; the disk of / is read-only'
    const runScript = () => Promise.reject(new Error(reason))
    const { show, act, settled } = await open({ runScript })
    await act('backup')
    await settled('backup')
    assert.match(await show(), /role="alert">Failed .*: Cannot write \/backups: EROFS/)
  })

  it('does not start if it cannot be recorded', async () => {
    const { app, act } = await open({ runScript: async () => assert.fail('it has started') })
    app.setReadOnly(true)
    const { status, html } = await act('backup')
    app.setReadOnly(false)
    assert.equal(status, 503)
    assert.match(html, /role="alert">The database cannot be used now/)
  })
})
