import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'

/** Stripe's OpenAPI document is part of the Go module of stripe-mock. */
const MODULE = 'github.com/stripe/stripe-mock@v0.203.0'
const SPEC = 'embedded/openapi/spec3.json'

type Json = Readonly<Record<string, unknown>>

interface Call {
  readonly method: string
  readonly path: string
  readonly answer: unknown
}

/** The path of Stripe's document in Go's module cache, or null. */
export function findSpec(): string | null {
  const { GOMODCACHE, GOPATH = join(homedir(), 'go') } = process.env
  const file = join(GOMODCACHE ?? join(GOPATH, 'pkg/mod'), MODULE, SPEC)
  return existsSync(file) ? file : null
}

/** Reads the document. Returns a function that lists how an answer differs from its schema. */
export function readSpec(file: string) {
  const { paths, components } = JSON.parse(readFileSync(file, 'utf8'))
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ $id: 'stripe', components: toJsonSchema(components) })
  const templates = Object.keys(paths).map((path) => ({ path, pattern: toPattern(path) }))
  const validators = new Map<string, ValidateFunction>()
  const validatorOf = ({ method, path }: Call): ValidateFunction => {
    const plain = path.replace(/\?.*/, '')
    const template = templates.find(({ pattern }) => pattern.test(plain))
    if (template === undefined) throw new Error(`Stripe has no path ${plain}`)
    const name = `${method} ${template.path}`
    const known = validators.get(name)
    if (known !== undefined) return known
    const { responses } = paths[template.path][method.toLowerCase()]
    const { schema } = responses['200'].content['application/json']
    const made = ajv.compile(toJsonSchema(schema, 'stripe'))
    validators.set(name, made)
    return made
  }
  return (call: Call): string[] => {
    const validate = validatorOf(call)
    if (validate(call.answer)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message }) => `${instancePath.replaceAll(/\/\d+/g, '/*')}: ${message}`,
    )
  }
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

/** OpenAPI 3.0 to JSON Schema: `nullable` becomes a union. `base` is where references lead. */
function toJsonSchema(schema: unknown, base = ''): Json {
  // safe: what is made from an object is an object
  return convert(schema, base) as Json
}

function convert(node: unknown, base: string): unknown {
  if (Array.isArray(node)) return node.map((one) => convert(one, base))
  if (typeof node !== 'object' || node === null) return node
  const { nullable, $ref, ...rest } = node as Record<string, unknown> // safe: an object
  const entries = Object.entries(rest).filter(([name]) => !name.startsWith('x-'))
  const converted = Object.fromEntries(entries.map(([name, value]) => [name, convert(value, base)]))
  const schema = typeof $ref === 'string' ? { $ref: `${base}${$ref}` } : converted
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema
}
