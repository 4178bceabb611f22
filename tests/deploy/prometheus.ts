import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import { tempFolder } from '../support/temp-folder.ts'

/* A real Prometheus, which .ci/run installs. */

const DEADLINE_MS = 60_000

const Alerts = v.object({
  data: v.object({
    alerts: v.array(v.object({ labels: v.object({ alertname: v.string() }), state: v.string() })),
  }),
})
const Answer = v.object({
  status: v.literal('success'),
  data: v.object({ result: v.array(v.unknown()) }),
})

/** Runs promtool and returns what it prints. Fails if it finds a fault. */
export async function runPromtool(...args: readonly string[]): Promise<string> {
  const child = spawn('promtool', args)
  const [output, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  assert.equal(child.exitCode, 0, `${output}${errors}`)
  return output
}

/** Starts a Prometheus that scrapes `target`, a host with a port, and evaluates `rules`. */
export async function startPrometheus(target: string, rules: string) {
  const folder = tempFolder()
  const file = join(folder, 'prometheus.json')
  writeFileSync(join(folder, 'rules.yml'), rules)
  // JSON is YAML. A scrape of a server that cannot write takes a second.
  const config = {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
    rule_files: ['rules.yml'],
    scrape_configs: [{ job_name: 'meridian', static_configs: [{ targets: [target] }] }],
  }
  writeFileSync(file, JSON.stringify(config))
  const host = `127.0.0.1:${await findFreePort()}`
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`]
  const child = spawn('prometheus', [...args, `--web.listen-address=${host}`])
  let log = ''
  child.stderr.on('data', (chunk) => {
    log += chunk
  })
  child.on('error', (error) => {
    log += error.message
  })
  const get = async (path: string) => (await fetch(`http://${host}/api/v1${path}`)).json()
  const until = async (holds: () => Promise<boolean>, what: () => string) => {
    for (const end = performance.now() + DEADLINE_MS; !(await holds()); await sleep(200)) {
      const isRunning = child.pid !== undefined && child.exitCode === null
      assert.ok(isRunning && performance.now() < end, `${what()}\n${log}`)
    }
  }
  const firing = async (): Promise<string[]> => {
    const { data } = v.parse(Alerts, await get('/alerts'))
    const all = data.alerts.filter(({ state }) => state === 'firing')
    // Several series may make one alert fire.
    return [...new Set(all.map(({ labels }) => labels.alertname))].toSorted()
  }
  await until(
    () =>
      get('/status/buildinfo').then(
        () => true,
        () => false,
      ),
    () => 'Prometheus does not start',
  )
  return {
    /** Waits until all these alerts fire and none of the others. */
    untilFiring: async (...alerts: readonly string[]) => {
      const wanted = alerts.toSorted().join()
      let seen = ''
      const holds = async () => {
        seen = (await firing()).join()
        return seen === wanted
      }
      await until(holds, () => `${seen} fire instead of ${wanted}`)
    },
    /** The number of series that a query finds. */
    count: async (query: string): Promise<number> => {
      const answer = await get(`/query?${new URLSearchParams({ query })}`)
      return v.parse(Answer, answer, { message: `${query}: ${JSON.stringify(answer)}` }).data.result
        .length
    },
    stop: async () => {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
