import { type Finding, ok, warning, wrong } from './finding.ts'

/** A database of places or networks that is to be served: when it was built, or what is wrong. */
export type GeoFile =
  | { readonly name: string; readonly builtAt: string }
  | { readonly name: string; readonly problem: string }

const DAY_MS = 24 * 60 * 60 * 1000
/** Providers bring out new ones at least once a month. */
const OLD_MS = 45 * DAY_MS

/** A server asks once a day; less than three times may be a fault of the provider's. */
const LATE_MS = 3 * DAY_MS

/** Whether the server that downloads by itself has done so. `succeededAt` 0: never. */
export function checkDownloads(succeededAt: number, now: number): Finding {
  const hours = Math.floor((now - succeededAt) / (DAY_MS / 24))
  const text =
    succeededAt === 0
      ? 'The providers were never asked for newer databases'
      : `The providers were asked for newer databases ${hours} hours ago`
  if (now - succeededAt <= LATE_MS) return ok(text)
  return warning(text, 'npm run geo -- --download tells why, unless the server has only started')
}

/** Whether the databases can be served, and how old they are. */
export function checkGeo(files: readonly GeoFile[], now: number): Finding[] {
  return files.map((file) => {
    if ('problem' in file) {
      return wrong(file.problem, 'npm run geo prepares what is bundled; replace what is your own')
    }
    const age = now - Date.parse(file.builtAt)
    const text = `${file.name} was built ${Math.floor(age / DAY_MS)} days ago`
    if (age <= OLD_MS) return ok(text)
    return warning(text, 'fetch a newer one: npm run geo -- --download')
  })
}
