import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as v from 'valibot'

const Names = v.union([v.string(), v.array(v.string())])

const Package = v.looseObject({
  version: v.optional(v.string()),
  integrity: v.optional(v.string()),
  resolved: v.optional(v.string()),
  link: v.optional(v.boolean()),
  optional: v.optional(v.boolean()),
  os: v.optional(Names),
  cpu: v.optional(Names),
})

const text = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const read = (name: string) => JSON.parse(text(name))

const Lock = v.object({ packages: v.record(v.string(), Package) })
const readLock = (name: string) => v.parse(Lock, read(name))
const packagesIn = ({ packages }: v.InferOutput<typeof Lock>) =>
  Object.entries(packages).filter(([path]) => path !== '')

const lock = readLock('package-lock.json')
const architecture = text('docs/architecture.md')
const DEPENDENCIES = architecture.slice(architecture.indexOf('\n## Dependencies\n'))

const packages = packagesIn(lock)
const manifest = read('package.json')
const dependencies: Readonly<Record<string, string>> = {
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.devDependencies,
}

for (const name of ['package-lock.json', 'sdk/typescript/package-lock.json']) {
  describe(name, () => {
    const all = packagesIn(readLock(name))

    it('names no host: packages come from the configured registry', () => {
      const named = all.filter(([, { resolved, link }]) => resolved !== undefined || link)
      assert.deepEqual(named, [])
    })

    it('has a SHA-512 checksum of every package except builds for other machines', () => {
      for (const [path, { integrity, optional, os, cpu }] of all) {
        if (integrity === undefined) assert.ok(optional && (os || cpu), path)
        else assert.match(integrity, /^sha512-[\w+/]{86}==$/, path)
      }
    })
  })
}

describe('package-lock.json', () => {
  it('has the Node.js of each machine that we support, with its checksum', () => {
    const runtimes = packages.filter(([path]) =>
      /^node_modules\/node-(bin-)?(linux|darwin|win)/.test(path),
    )
    assert.equal(runtimes.length, 5)
    for (const [path, { integrity }] of runtimes) assert.ok(integrity, path)
    assert.deepEqual(runtimes.map(([, { os, cpu }]) => `${os}-${cpu}`).toSorted(), [
      'darwin-arm64',
      'darwin-x64',
      'linux-arm64',
      'linux-x64',
      'win32-x64',
    ])
  })
})

describe('.npmrc', () => {
  it('forbids the install scripts of all packages, also for npm 10', () => {
    assert.match(text('.npmrc'), /^ignore-scripts=true$/m)
  })
})

describe('package.json', () => {
  it('requires exact versions', () => {
    for (const [name, version] of Object.entries(dependencies)) {
      assert.match(version, /^\d+\.\d+\.\d+$/, name)
      assert.equal(lock.packages[`node_modules/${name}`]?.version, version, name)
    }
  })

  it('has a reason for each package in docs/architecture.md, and no other package there', () => {
    const documented = [...DEPENDENCIES.matchAll(/^- (`[^:]+`): .+$/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    )
    assert.deepEqual(documented.toSorted(), Object.keys(dependencies).toSorted())
  })
})
