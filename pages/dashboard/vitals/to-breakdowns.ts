import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { DEVICE_TYPES } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import type { BreakdownProps } from './breakdown.tsx'
import { type CountryName, DEVICE_LABELS } from './filters.tsx'

/** Adds `note` to the breakdowns that the API does not filter by device and country. */
export function toBreakdowns(
  { devices, countries, paths, connections }: RumOverview,
  names: readonly CountryName[],
  note: string | undefined,
): BreakdownProps[] {
  const nameOf = new Map(names.map(({ code, name }) => [code, name]))
  return [
    {
      id: 'devices',
      title: 'Devices',
      column: 'Device',
      parts: devices.map(({ deviceType, ...part }) => ({ name: deviceName(deviceType), ...part })),
    },
    {
      id: 'countries',
      title: 'Countries',
      column: 'Country',
      parts: countries.map(({ country, ...part }) => ({
        name: country === null ? 'Unknown' : (nameOf.get(country) ?? country),
        ...part,
      })),
    },
    {
      id: 'paths',
      title: 'Pages',
      column: 'Path',
      note: `The 20 most viewed pages, counted by whole days. In a path, * stands for an id. ${note ?? ''}`,
      parts: paths.map(({ path, ...part }) => ({ name: path, ...part })),
    },
    {
      id: 'connections',
      title: 'Connections',
      column: 'Connection',
      note,
      parts: connections.map(({ connectionType, count }) => ({
        name: connectionType,
        sampleCount: count,
      })),
    },
  ]
}

function deviceName(deviceType: string | null): string {
  const known = DEVICE_TYPES.find((type) => type === deviceType)
  return known === undefined ? 'Unknown' : DEVICE_LABELS[known]
}
