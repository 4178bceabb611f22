import type { Child } from 'hono/jsx'
import { METRICS, type Metric, ruleOf } from '../../../lib/contract/telemetry/metrics.ts'
import { durationText } from '../../../lib/contract/telemetry/rating.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { DEVICE_TYPES } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import { FactList } from '../../fact-list.tsx'
import { numbers, Table } from '../../table.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Fold } from '../parts/fold.tsx'
import { count, counted, percent } from '../parts/format.ts'
import { Hour } from '../parts/time.tsx'
import { deviceName, type LinkTo, type VitalsChoice } from './choice.ts'
import type { Device } from './rating.ts'
import { Parts } from './shares.tsx'

interface TechnicalProps {
  readonly overview: RumOverview
  /** Of all devices. */
  readonly devices: readonly Device[]
  readonly choice: VitalsChoice
  /** Which filters do not hold for connections and beacons; empty: all do. */
  readonly note: string
  readonly linkTo: LinkTo
  /** null: the page is for readers of a link. */
  readonly download: Download | null
}

/** How the owner of the site downloads the same data. */
interface Download {
  readonly exportPath: (format: 'csv' | 'json') => string
  /** A command. */
  readonly curl: string
}

/** What helps those who build the pages. */
export function Technical(props: TechnicalProps) {
  const { overview, devices, choice, note, linkTo, download } = props
  const parts = devices.map(({ deviceType, ...part }) => {
    const device = DEVICE_TYPES.find((type) => type === deviceType)
    return { ...part, name: deviceName(deviceType), href: device && linkTo({ device }) }
  })
  return (
    <Fold
      id="technical"
      title="Technical"
      glance={`Devices, connections, server times${download === null ? '' : ', data, export'}`}
    >
      <Section id="devices" title="Devices">
        <Parts id="devices" column="Device" parts={parts} sort={choice.sort} linkTo={linkTo} />
      </Section>
      <Connections connections={overview.connections} note={note} />
      <LoadTimes metrics={overview.metrics} />
      {download !== null && (
        <>
          <DataHealth beacons={overview.beacons} note={note} />
          <Export {...download} path={choice.path} />
        </>
      )}
    </Fold>
  )
}

function Section({ id, title, children }: { id: string; title: string; children?: Child }) {
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  )
}

/**
 * The values of `effectiveType`, by which browsers rate the speed of any network:
 * developer.mozilla.org/docs/Glossary/Effective_connection_type
 */
const CONNECTION_LABELS: Readonly<Record<string, string>> = {
  '4g': 'Fast (like 4G or better)',
  '3g': 'Medium (like 3G)',
  '2g': 'Slow (like 2G)',
  'slow-2g': 'Very slow (below 2G)',
  wifi: 'Wi-Fi',
  other: 'Other',
}

function Connections({ connections, note }: Pick<RumOverview, 'connections'> & { note: string }) {
  if (connections.length === 0) return null
  const total = connections.reduce((sum, connection) => sum + connection.count, 0)
  return (
    <Section id="connections" title="Connections">
      <p class="soft small">
        How fast the browser found the network, whatever its kind: a fibre is fast like 4G or
        better. Only Chromium says so. {note}
      </p>
      <div class="wide">
        <Table
          heads={['Connection', ...numbers('Views', 'Share')]}
          rows={connections.map(({ connectionType, count: views }) => [
            CONNECTION_LABELS[connectionType] ?? connectionType,
            count(views),
            percent(views / total),
          ])}
        />
      </div>
    </Section>
  )
}

const OTHERS = METRICS.filter((metric) => !ruleOf(metric).isCore)

/** The phases of loading a document. Their percentiles do not add up to that of the whole load. */
function LoadTimes({ metrics }: Pick<RumOverview, 'metrics'>) {
  const sent = OTHERS.filter((metric) => metrics[metric].sampleCount > 0)
  if (sent.length === 0) return null
  return (
    <Section id="times" title="Server and network, 75th percentile">
      <FactList facts={sent.map((metric) => [nameOf(metric), timeText(metrics[metric])])} />
    </Section>
  )
}

function nameOf(metric: Metric): string {
  const { name, isLegacy } = ruleOf(metric)
  return isLegacy ? `${name} (legacy)` : name
}

function timeText({ p75, sampleCount }: RumOverview['metrics']['ttfb']): string {
  return p75 === null ? '–' : `${durationText(p75)}, ${counted(sampleCount, 'value', 'values')}`
}

function DataHealth({ beacons, note }: Pick<RumOverview, 'beacons'> & { note: string }) {
  const { accepted, bots, refused, droppedValues, lastHour } = beacons
  const facts = [
    ['Beacons accepted', count(accepted)],
    ['Last beacon accepted', <Hour hour={lastHour} />],
    ['Sent by bots, not stored', count(bots)],
    ['Refused because too many came at once', count(refused)],
    ['Values dropped as out of range', count(droppedValues)],
  ] as const
  return (
    <Section id="health" title="Data health">
      <FactList facts={facts} />
      {note !== '' && <p class="soft small">{note}</p>}
    </Section>
  )
}

function Export({ exportPath, curl, path }: Download & { readonly path: string }) {
  return (
    <Section id="export" title="Export">
      <p>A row for each hour, country and device type{path !== '' && ', over all pages'}.</p>
      <div class="actions">
        <a class="button quiet" href={exportPath('csv')}>
          Download CSV
        </a>
        <a class="button quiet" href={exportPath('json')}>
          Download JSON
        </a>
      </div>
      <p>
        To download it from a program, use a key with the permission <code>account:read</code>:
      </p>
      <Copyable id="curl" text={curl} />
    </Section>
  )
}
