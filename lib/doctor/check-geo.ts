import { type Finding, ok, warning, wrong } from './finding.ts'

/** A database of places or networks that is to be served: when it was built, or what is wrong. */
export type GeoFile =
  | { readonly name: string; readonly builtAt: string }
  | { readonly name: string; readonly problem: string }

const DAY_MS = 24 * 60 * 60 * 1000
/** Providers bring out new ones at least once a month. */
const OLD_MS = 45 * DAY_MS

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
