import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Admin, startAdmin } from '../../admin/server.ts'
import { createJob } from '../../lib/services/operate/job.ts'
import { newSecretKey } from '../../stripe-double/ids.ts'
import { readPrometheusText, type Sample } from '../parts/metrics/prometheus-text.ts'
import { makeApp, type TestApp } from '../support/helpers.ts'
import { type Panel, readPanels, readQueries } from './dashboard.ts'
import { readRules } from './rules.ts'

/** Labels of Prometheus itself. */
const OF_TARGET = ['instance', 'job', 'le']
/** What each of the queries may use that is neither a metric nor a function. */
const WORDS = new Set(['and', 'or', 'unless', 'by', 'without', 'bool'])

let app: TestApp
let admin: Admin
/** Counted from /proc. */
const ONLY_ON_LINUX = process.platform === 'linux' ? [] : ['process_open_fds']
/** Names of the series that the admin port serves, each with its labels. */
const served = new Map(['up', ...ONLY_ON_LINUX].map((name) => [name, new Set<string>()]))
before(async () => {
  const last = () => ({ failedAt: 0, succeededAt: 0 })
  const job = createJob(async () => {}, Date.now)
  const downloads = { isRegular: true, downloadIfDue: async () => {}, job, last }
  app = await makeApp({
    env: { STRIPE_SECRET_KEY: newSecretKey(), MERIDIAN_REPLICATED: '1' },
    replace: () => ({ downloads }),
  })
  admin = await startAdmin({ port: 0, host: '127.0.0.1' }, app.services)
  await app.send('GET', '/health')
  for (const sample of await scrape()) {
    const labels = served.get(sample.name) ?? new Set()
    served.set(sample.name, labels)
    for (const label of Object.keys(sample.labels)) labels.add(label)
  }
})
after(async () => {
  admin.close()
  await app.close()
})

async function scrape(): Promise<Sample[]> {
  const body = await (await fetch(`${admin.url}/metrics`)).text()
  return [...readPrometheusText(body).values()].flatMap(({ samples }) => samples)
}

interface Use {
  readonly metric: string
  readonly labels: readonly string[]
}

/** The metrics that a query reads, each with the labels that it selects by or groups by. */
function usesIn(query: string): Use[] {
  const groups = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => split(names))
  const plain = query
    .replaceAll(/\bby \([^)]*\)/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/"[^"]*"/g, '""')
  const names = plain.matchAll(/\b([a-z_]\w*)\b(?!\s*\()(?:\{([^}]*)\})?(?![^{]*\})/gi)
  return [...names]
    .filter(([, metric = '']) => !WORDS.has(metric))
    .map(([, metric = '', selectors = '']) => {
      const selected = split(selectors).map((part) => /^\w+/.exec(part)?.[0] ?? part)
      return { metric, labels: [...selected, ...groups] }
    })
}

function split(list: string): string[] {
  return list.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
}

/** What the query names that the admin port does not serve. */
function unknownIn(query: string): string[] {
  const uses = usesIn(query)
  assert.ok(uses.length > 0, `no metric in ${query}`)
  return uses.flatMap(({ metric, labels }) => {
    const known = served.get(metric)
    if (known === undefined) return [metric]
    return labels
      .filter((label) => !known.has(label) && !OF_TARGET.includes(label))
      .map((label) => `${metric}{${label}}`)
  })
}

describe('the queries', () => {
  it('are understood here', () => {
    const rate = 'time() - sum by (a, le) (rate(b_total{c="d,e{f}", job="g"}[5m]))'
    assert.deepEqual(unknownIn(rate), ['b_total'])
    const least = 'min by (check, x) (meridian_health{y=~"z"}) or vector(0) > nothing'
    const unknown = ['meridian_health{y}', 'meridian_health{x}', 'nothing']
    assert.deepEqual(unknownIn(least), unknown)
  })

  for (const query of readQueries({ instance: 'one', interval: '1m' })) {
    it(`of the dashboard name only what the admin port serves: ${query}`, () => {
      assert.deepEqual(unknownIn(query), [])
    })
  }

  for (const { alert, expr } of readRules()) {
    it(`of the alerts name only what the admin port serves: ${alert}`, () => {
      assert.deepEqual(unknownIn(expr), [])
    })
  }

  it('of the dashboard show every metric that is our own', () => {
    const shown = readQueries({ instance: 'one', interval: '1m' }).flatMap(usesIn)
    const own = [...served.keys()].filter((name) => name.startsWith('meridian_'))
    assert.ok(own.length > 15)
    const hidden = own.filter((name) => !shown.some(({ metric }) => metric === name))
    assert.deepEqual(hidden, [])
  })
})

describe('the panels of the dashboard', () => {
  const panels = readPanels()
  const overlap = (a: Panel, b: Panel) =>
    a.gridPos.x < b.gridPos.x + b.gridPos.w &&
    b.gridPos.x < a.gridPos.x + a.gridPos.w &&
    a.gridPos.y < b.gridPos.y + b.gridPos.h &&
    b.gridPos.y < a.gridPos.y + a.gridPos.h

  it('have their own ids and titles, and places that do not overlap', () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length)
    for (const panel of panels) {
      assert.ok(panel.gridPos.x + panel.gridPos.w <= 24, panel.title)
      const others = panels.filter((other) => other !== panel && overlap(panel, other))
      assert.deepEqual(others, [])
    }
  })
})
