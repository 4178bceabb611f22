/** As disks and providers count, not 1,048,576. */
export const MB = 1e6

/** A size for people, such as 12.3 MB. */
export function sizeText(bytes: number): string {
  if (bytes < MB) return `${(bytes / 1e3).toFixed(1)} kB`
  return bytes < 1e9 ? `${(bytes / MB).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}
