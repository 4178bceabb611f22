import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as v from 'valibot'

const Package = v.looseObject({
  version: v.optional(v.string()),
  integrity: v.optional(v.string()),
  resolved: v.optional(v.string()),
  link: v.optional(v.boolean()),
  optional: v.optional(v.boolean()),
  os: v.optional(v.array(v.string())),
  cpu: v.optional(v.array(v.string())),
  hasInstallScript: v.optional(v.boolean()),
})

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))

const lock = v.parse(
  v.object({ packages: v.record(v.string(), Package) }),
  read('package-lock.json'),
)
const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
const manifest = read('package.json')

describe('package-lock.json', () => {
  it('names no host: packages come from the registry that npm is set to', () => {
    const named = packages.filter(([, { resolved, link }]) => resolved !== undefined || link)
    assert.deepEqual(named, [])
  })

  it('holds a strong checksum of every package but builds for other machines', () => {
    for (const [path, { integrity, optional, os, cpu }] of packages) {
      if (integrity === undefined) assert.ok(optional && (os || cpu), path)
      else assert.match(integrity, /^sha512-[\w+/]{86}==$/, path)
    }
  })

  it('lets no package run a script that package.json does not name', () => {
    const scripts = packages.filter(([, { hasInstallScript }]) => hasInstallScript)
    for (const [path, { optional }] of scripts) {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      assert.ok(name in manifest.allowScripts || optional, path)
    }
  })
})

describe('package.json', () => {
  it('asks for exact versions', () => {
    const wanted = { ...manifest.dependencies, ...manifest.devDependencies }
    for (const [name, version] of Object.entries(wanted)) {
      assert.match(String(version), /^\d+\.\d+\.\d+$/, name)
      assert.equal(lock.packages[`node_modules/${name}`]?.version, version, name)
    }
  })
})
