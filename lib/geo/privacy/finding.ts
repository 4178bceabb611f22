import { PRIVACY_FIELDS, type Privacy, type PrivacyField } from '../../contract/geo/privacy.ts'

/** What databases state about how an address hides who uses it. */
export interface PrivacyFinding {
  /** Fields that no database states are absent. */
  readonly privacy: Privacy
  /** Providers of the data in `privacy`, in order of priority. */
  readonly sources: readonly string[]
}

type Value = boolean | string | undefined

/** The fields that have a value, in the order of the contract; undefined if none has. */
export function toPrivacy(valueFor: (field: PrivacyField) => Value): Privacy | undefined {
  const fields = PRIVACY_FIELDS.flatMap((field) => {
    const value = valueFor(field)
    return value === undefined ? [] : [[field, value]]
  })
  // safe: the callers give each field a value of its type
  return fields.length === 0 ? undefined : (Object.fromEntries(fields) as Privacy)
}

/**
 * Joins what several databases state, in order of priority. A flag is true if one says so; otherwise the
 * first value counts. Returns undefined if none states anything.
 */
export function joinFindings(findings: readonly PrivacyFinding[]): PrivacyFinding | undefined {
  const [first] = findings
  if (findings.length <= 1) return first
  const privacy = toPrivacy((field) => {
    const stated = findings.flatMap((finding) => finding.privacy[field] ?? [])
    return stated.includes(true) || stated[0]
  })
  if (privacy === undefined) return undefined
  const contributing = findings.filter((finding) => sharesField(finding.privacy, privacy))
  return { privacy, sources: [...new Set(contributing.flatMap(({ sources }) => sources))] }
}

function sharesField(some: Privacy, all: Privacy): boolean {
  return PRIVACY_FIELDS.some((field) => some[field] !== undefined && some[field] === all[field])
}
