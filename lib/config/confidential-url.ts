const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Whether the URL holds no password, and is https or on this machine. */
export function isConfidentialUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname))
}
