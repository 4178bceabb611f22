import assert from 'node:assert/strict'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import { newDataFolder, runScript, startServer } from '../support/process.ts'
import { IS_PROJECT_NODE } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { ALERT_CASES, type AlertCase, ofTarget } from './alert-cases.ts'
import { readQueries } from './dashboard.ts'
import { runPromtool, startPrometheus } from './prometheus.ts'
import { impatientRules, RULES_FILE, readRules } from './rules.ts'

/* The rules do not depend on the runtime. */
const OPTIONS = { skip: !IS_PROJECT_NODE }
/** The server of the test has no copy, old databases and no downloads. */
const ALWAYS = ['MeridianCopyOld', 'MeridianGeoDataOld']
const LONG_LOG_BYTES = 129 * 1024 * 1024

describe('deploy/prometheus', OPTIONS, () => {
  it('is valid', async () => {
    const file = fileURLToPath(new URL('../../deploy/prometheus/prometheus.yml', import.meta.url))
    assert.match(await runPromtool('check', 'config', file), /SUCCESS: \d+ rules found/)
    await runPromtool('check', 'rules', '--lint-fatal', RULES_FILE)
  })

  it('has cases that make each alert fire, and cases that do not', () => {
    const fired = (fires: boolean) =>
      new Set(ALERT_CASES.filter((one) => (one.fires !== undefined) === fires).map(nameOf))
    const all = new Set(readRules().map(nameOf))
    assert.deepEqual(fired(true), all)
    assert.deepEqual(fired(false), all)
  })

  for (const every of ['1m', '30m'] as const) {
    it(`fires in each case that should, and in no other: every ${every}`, async () => {
      const tests = ALERT_CASES.filter((one) => one.every === every).map(toUnitTest)
      // JSON is YAML.
      const file = join(tempFolder(), 'cases.json')
      const options = { rule_files: [RULES_FILE], evaluation_interval: every }
      writeFileSync(file, JSON.stringify({ ...options, tests }))
      await runPromtool('test', 'rules', file)
    })
  }
})

const summaries = new Map(readRules().map(({ alert, summary }) => [alert, summary]))

/** The case as promtool reads it. */
function toUnitTest({ alert, every, at, series, fires }: AlertCase) {
  const expected = { exp_labels: fires, exp_annotations: { summary: summaries.get(alert) } }
  return {
    interval: every,
    input_series: Object.entries(series).map(([name, values]) => ({
      series: ofTarget(name),
      values,
    })),
    alert_rule_test: [
      { eval_time: at, alertname: alert, exp_alerts: fires === undefined ? [] : [expected] },
    ],
  }
}

const nameOf = ({ alert }: { readonly alert: string }) => alert

describe('a Prometheus that scrapes a server', OPTIONS, () => {
  it('fires each alert that the server provokes, and understands the dashboard', async (t) => {
    const { dataDir, settings: folder, remove } = newDataFolder()
    t.after(remove)
    // Without Litestream, which the setting promises, there is no copy.
    const settings = { ...folder, MERIDIAN_REPLICATED: '1' }
    const server = await startServer({ ...settings, MERIDIAN_ADMIN_PORT: '0' })
    t.after(() => server.stop('SIGKILL'))
    const [, target = ''] = /^Operators +http:\/\/(\S+)\/metrics$/m.exec(server.output()) ?? []
    const prometheus = await startPrometheus(target, impatientRules())
    t.after(prometheus.stop)
    await prometheus.untilFiring('MeridianBackupOld', ...ALWAYS)

    assert.equal((await runScript(['scripts/backup.ts'], settings)).code, 0)
    await prometheus.untilFiring(...ALWAYS)

    for (const query of readQueries({ instance: target, interval: '1m' })) {
      await prometheus.count(query)
    }

    const other = new Sqlite(join(dataDir, 'app.db'))
    other.exec('BEGIN IMMEDIATE')
    const refusals = setInterval(() => void fetch(`${server.url}/health`), 100)
    t.after(() => clearInterval(refusals))
    await prometheus.untilFiring(...ALWAYS, 'MeridianDoesNotWrite', 'MeridianErrors')
    clearInterval(refusals)
    other.close()
    await prometheus.untilFiring(...ALWAYS, 'MeridianErrors')

    truncateSync(join(dataDir, 'app.db-wal'), LONG_LOG_BYTES)
    await prometheus.untilFiring(...ALWAYS, 'MeridianErrors', 'MeridianLogGrows')

    await server.stop('SIGKILL')
    await prometheus.untilFiring('MeridianDown', 'MeridianErrors')
  })
})
