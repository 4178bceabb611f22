/** A raw parameter: text, a list or named parameters. */
export type FormValue = string | FormValue[] | Form

export interface Form {
  [name: string]: FormValue
}

interface Tree {
  [name: string]: string | Tree
}

/** Parses `a[b][0]=c` as Stripe does: brackets nest, and all-numeric names make a list. */
export function parseForm(text: string): Form {
  const tree: Tree = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    put(
      tree,
      name.split(/\[|\]\[|\]/).filter((part, index) => index === 0 || part !== ''),
      value,
    )
  }
  return toForm(tree)
}

function put(tree: Tree, path: string[], value: string): void {
  let node = tree
  for (const part of path.slice(0, -1)) {
    const next = node[part]
    const child: Tree = typeof next === 'object' ? next : Object.create(null)
    node[part] = child
    node = child
  }
  node[path.at(-1) ?? ''] = value
}

function toForm(tree: Tree): Form {
  return Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, toValue(value)]))
}

function toValue(value: string | Tree): FormValue {
  if (typeof value === 'string') return value
  const names = Object.keys(value)
  const isList = names.length > 0 && names.every((name) => /^\d+$/.test(name))
  return isList ? Object.values(value).map(toValue) : toForm(value)
}
