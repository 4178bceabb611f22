const GIT_LFS = 'version https://git-lfs.github.com/spec/'

/** The first bytes of files: https://www.garykessler.net/library/file_sigs.html */
const SIGNATURES: readonly (readonly [signature: readonly number[], name: string])[] = [
  [[0x1f, 0x8b], 'is compressed with gzip; unpack it first'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'is compressed with zstd; unpack it first'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'is compressed with xz; unpack it first'],
  [[0x42, 0x5a, 0x68], 'is compressed with bzip2; unpack it first'],
  [[0x50, 0x4b, 0x03, 0x04], 'is a ZIP archive or a spreadsheet; unpack it, or save it as CSV'],
]

/** Says what a file is that is not of the kind expected, by its first bytes; undefined: not known. */
export function describeForeign(start: Uint8Array): string | undefined {
  if (start.length === 0) return 'is empty'
  const isLike = (signature: readonly number[]) => signature.every((byte, at) => start[at] === byte)
  const known = SIGNATURES.find(([signature]) => isLike(signature))
  if (known !== undefined) return known[1]
  const text = new TextDecoder().decode(start.subarray(0, 1_000)).trimStart().toLowerCase()
  if (text.startsWith(GIT_LFS)) return 'is a Git LFS pointer; fetch the file with "git lfs pull"'
  if (/^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<(?:!doctype html|html)\b/.test(text))
    return 'is a web page'
  return undefined
}
