import { readFileSync } from 'node:fs'
import * as v from 'valibot'

const Panel = v.object({
  id: v.number(),
  title: v.string(),
  gridPos: v.object({ h: v.number(), w: v.number(), x: v.number(), y: v.number() }),
  targets: v.pipe(v.array(v.object({ refId: v.string(), expr: v.string() })), v.minLength(1)),
})

const Dashboard = v.object({ uid: v.string(), title: v.string(), panels: v.array(Panel) })

export type Panel = v.InferOutput<typeof Panel>

/** The panels of deploy/grafana/dashboard.json. */
export function readPanels(): Panel[] {
  const file = new URL('../../deploy/grafana/dashboard.json', import.meta.url)
  return v.parse(Dashboard, JSON.parse(readFileSync(file, 'utf8'))).panels
}

interface Variables {
  readonly instance: string
  /** The range of a rate. */
  readonly interval: string
}

/** The queries of all panels as Grafana sends them. */
export function readQueries({ instance, interval }: Variables): string[] {
  return readPanels().flatMap(({ targets }) =>
    targets.map(({ expr }) =>
      expr.replaceAll('$instance', instance).replaceAll('$__rate_interval', interval),
    ),
  )
}
