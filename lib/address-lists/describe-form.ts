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
export function describeForm(form: ListForm): string {
  const { kind, hasHeader, hasDirectives, take } = form
  const named = hasDirectives === true ? ', named by #Fields' : ''
  const header = hasHeader ? ', with a header' : named
  if (!isPlain(form))
    return `${KIND_NAMES[kind]}${header}; ${placeOf(form)}, the ${take} of several`
  return `One address per line${header}${take === 'first' ? '' : ', the last of several'}`
}

/** Without a second column there are no commas to speak of. */
function isPlain({ kind, columns, column }: ListForm): boolean {
  return kind === 'comma' && columns.length === 1 && column === 0
}

function placeOf({ columns, column }: ListForm): string {
  const name = column === null ? undefined : columns[column]
  return name === undefined
    ? 'addresses anywhere in the line'
    : `addresses in “${name.slice(0, SHOWN_CHARACTERS)}”`
}
