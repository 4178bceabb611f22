/** The Message-ID of a mail, in angle brackets, at the host of its sender. */
export function messageIdOf(id: string, sender: string): string {
  return `<${id}@${/@([\w.-]+)>?\s*$/.exec(sender)?.[1] ?? 'localhost'}>`
}
