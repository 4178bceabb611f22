import type { Kind, ListForm } from './form.ts'

const KIND_NAMES: Readonly<Record<Kind, string>> = {
  comma: 'CSV with commas',
  semicolon: 'CSV with semicolons',
  tab: 'TSV',
  pipe: 'Cells between vertical bars',
  space: 'Cells between spaces',
  lines: 'Lines of a log',
  json: 'JSON lines',
}

export function kindName(kind: Kind): string {
  return KIND_NAMES[kind]
}

const SHOWN_CHARACTERS = 60

/** Says how a list is read, such as: CSV with commas, with a header; addresses in “ip”. */
export function describeForm({
  kind,
  hasHeader,
  hasDirectives,
  columns,
  column,
  take,
}: ListForm): string {
  const name = column === null ? undefined : columns[column]
  const place =
    name === undefined ? 'anywhere in the line' : `in “${name.slice(0, SHOWN_CHARACTERS)}”`
  const named = hasDirectives === true ? ', named by #Fields' : ''
  const header = hasHeader ? ', with a header' : named
  return `${KIND_NAMES[kind]}${header}; addresses ${place}, the ${take} of several`
}
