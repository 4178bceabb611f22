import type { Ports } from '../parts/net/endpoint.ts'

/** The parts of lines whose IPv6 addresses have their ports after colons. */
const AFTER_COLON = [
  /(?:^|\s)(?:tcp|udp)6?\s+\d+\s+\d+\s+\S+\s+\S+/g, // netstat of Linux, net-tools
  /^\S+ (?:[\d.]+ )?\d{4}-\d\d-\d\dT\S+ (?:app\/\S+|net\/\S+ \S+) \S+ \S+/g, // AWS: access logs of ALB and NLB
  /^\d{4}-\d\d-\d\dT\S+ \S+ \S+:\d+ (?:-|\S+:\d+) -?[\d.]+ /g, // AWS: access logs of classic load balancers
  /haproxy\[\d+\]: (?:Connect from \S+ to )?\S+/g, // HAProxy, section 8.2 of its manual
  /^\S+:\d+ \[\d\d\/\w{3}\/\d{4}(?::\d\d){3}\.\d{3}\]/g, // HAProxy, without the header of syslog
  /\[AF_INET6?\]\S+/g, // OpenVPN, print_sockaddr_ex
]

/** The parts of lines whose addresses have their ports after dots. */
const AFTER_DOT = [
  /\S\.[\w-]+ > \S+\.[\w-]+:/g, // tcpdump, also of pflog
  /(?:^|\s)(?:tcp|udp)(?:4|6|46)?\s+\d+\s+\d+\s+\S+\s+\S+/g, // netstat of BSD and macOS
  /^\s*\S+\.[\w*-]+\s+\S+\.[\w*-]+(?:\s+\d+){4}\s+[A-Z]{4,}[A-Z_\d]*\s*$/g, // netstat of Solaris
]

/** The start of a part and its end. */
type Part = readonly [start: number, end: number]

/**
 * Returns a function that says how the line writes the ports of the word from `start` to `end`. Ask for words in
 * their order. The line is read once, when the function is first called.
 */
export function createFindPorts(text: string): (start: number, end: number) => Ports {
  let parts: Record<keyof Ports, (start: number, end: number) => boolean> | undefined
  return (start, end) => {
    parts ??= { afterColon: createIsIn(text, AFTER_COLON), afterDot: createIsIn(text, AFTER_DOT) }
    return { afterColon: parts.afterColon(start, end), afterDot: parts.afterDot(start, end) }
  }
}

function createIsIn(text: string, forms: readonly RegExp[]) {
  const parts = forms
    .flatMap((form) => [...text.matchAll(form)])
    .map(({ 0: part, index }): Part => [index, index + part.length])
    .sort(([one], [other]) => one - other)
  let at = 0
  return (start: number, end: number): boolean => {
    while ((parts[at]?.[1] ?? Number.POSITIVE_INFINITY) <= start) at += 1
    return (parts[at]?.[0] ?? Number.POSITIVE_INFINITY) < end
  }
}
