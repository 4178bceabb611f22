import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'

/* What deploy/compose.yml promises of all its services. tests/docs/supervisors.test.ts reads the server's. */

const DEPLOY = new URL('../../deploy/', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, DEPLOY), 'utf8')
const COMPOSE = read('compose.yml')
const HARDENED = ['read_only: true', 'cap_drop: [ALL]', 'no-new-privileges:true', 'tmpfs: ["/tmp"]']

/** Each service with its lines. */
function servicesOf(text: string): Map<string, string> {
  const [, services = ''] = /^services:\n((?: .*\n|\n)+)/m.exec(text) ?? []
  const found = [...services.matchAll(/^ {2}(\w+):\n((?: {4}.*\n|\n)+)/gm)]
  return new Map(found.map(([, name = '', lines = '']) => [name, lines]))
}

const services = servicesOf(COMPOSE)

describe('the Compose file', () => {
  it('hardens and limits each service', () => {
    const [, shared = ''] = /^x-hardened: &hardened\n((?: {2}.*\n)+)/m.exec(COMPOSE) ?? []
    for (const line of HARDENED) assert.ok(shared.includes(line), line)
    assert.deepEqual([...services.keys()], ['meridian', 'prometheus', 'alertmanager', 'grafana'])
    for (const [name, lines] of services) {
      assert.match(lines, /^ {4}<<: \*hardened$/m, name)
      assert.match(lines, /^ {4}mem_limit: \d+[mg]$/m, name)
    }
  })

  it('hardens the server of several likewise', () => {
    const server = servicesOf(read('cluster.yml')).get('meridian') ?? ''
    for (const line of HARDENED) assert.ok(server.includes(line), line)
    const limit = (text = '') => /mem_limit: (\S+)/.exec(text)?.[1]
    assert.equal(limit(server), limit(services.get('meridian')))
  })

  it('publishes ports only on this machine', () => {
    for (const [name, lines] of services) {
      const ports = /^ {4}ports: \[(.*)\]$/m.exec(lines)?.[1]?.split(', ') ?? []
      assert.ok(ports.length > 0, name)
      for (const port of ports) assert.match(port, /^"127\.0\.0\.1:(\d+):\1"$/, name)
    }
  })

  it('mounts only what is there, read-only', () => {
    const mounts = [...COMPOSE.matchAll(/- \.\/(\S+?):(\S+?):(\w+)$/gm)]
    assert.ok(mounts.length > 0)
    for (const [, path = '', , mode] of mounts) {
      assert.ok(existsSync(new URL(path, DEPLOY)), path)
      assert.equal(mode, 'ro', path)
    }
  })

  it('connects Prometheus, Alertmanager and Grafana', () => {
    const [, alertmanager = ''] =
      /targets: \["(\w+:9093)"\]/.exec(read('prometheus/prometheus.yml')) ?? []
    const source = /url: http:\/\/(\w+:9090)/.exec(
      read('grafana/provisioning/datasources/prometheus.yml'),
    )
    for (const target of [alertmanager, source?.[1] ?? '']) {
      const [name = '', port] = target.split(':')
      assert.ok(services.get(name)?.includes(`:${port}:${port}"`), target)
    }
    const [, folder = ''] =
      /path: (\S+)/.exec(read('grafana/provisioning/dashboards/meridian.yml')) ?? []
    assert.ok(COMPOSE.includes(`- ./grafana/dashboard.json:${folder}/`))
  })
})

describe('the nightly backup under systemd', () => {
  const unit = read('meridian-backup.service')
  const server = read('meridian.service')

  it('runs as the server does, with its settings, and writes only into its folders', () => {
    for (const name of ['User', 'EnvironmentFile', 'WorkingDirectory', 'ReadWritePaths']) {
      const line = new RegExp(`^${name}=.+$`, 'm')
      assert.equal(line.exec(unit)?.[0], line.exec(server)?.[0], name)
    }
  })

  it('finds compiled code where both units keep it', () => {
    for (const text of [unit, server]) {
      assert.match(text, /^CacheDirectory=meridian$/m)
      assert.match(text, /^Environment=NODE_COMPILE_CACHE=%C\/meridian$/m)
    }
  })

  it('copies elsewhere without removing anything there', () => {
    assert.match(unit, /rclone copy \/srv\/meridian\/data\/backups crypt:/)
    assert.doesNotMatch(unit, /rclone sync/)
  })

  it('is started every night, also after a night without power', () => {
    const timer = read('meridian-backup.timer')
    assert.match(timer, /^OnCalendar=\*-\*-\* \d\d:\d\d$/m)
    assert.match(timer, /^Persistent=yes$/m)
  })
})
