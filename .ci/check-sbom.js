import { readFileSync } from 'node:fs'

/* Compares a bill of materials (CycloneDX) with the production packages of a lockfile. */

const [sbom, lock] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')))

const listed = new Set(
  sbom.components.map(({ name, version, hashes = [] }) => {
    const hash = hashes.find(({ alg }) => alg === 'SHA-512')?.content
    return `${name}@${version} ${hash}`
  }),
)
const wanted = Object.entries(lock.packages).flatMap(([path, { version, integrity = '', dev }]) => {
  if (path === '' || dev) return []
  const hash = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
  return [`${path.replace(/.*node_modules\//, '')}@${version} ${hash}`]
})
const missing = wanted.filter((line) => !listed.has(line))
for (const line of missing) process.stderr.write(`Not in the bill of materials: ${line}\n`)
if (sbom.bomFormat !== 'CycloneDX' || missing.length > 0) process.exitCode = 1
else process.stdout.write(`${wanted.length} production packages, each with its SHA-512\n`)
