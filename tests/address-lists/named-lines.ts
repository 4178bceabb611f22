import type { ProgramLine } from './program-lines.ts'

/** Lines with names before or after addresses and versions. */
export const NAMED_LINES: readonly ProgramLine[] = [
  [
    'OpenVPN',
    'client1/81.2.69.160:50213 MULTI: primary virtual IP for client1: 10.8.0.6',
    '81.2.69.160',
    '10.8.0.6',
  ],
  ['OpenVPN, name with a dot', 'jane.doe/81.2.69.160:50213', '81.2.69.160'],
  ['Kubernetes, Docker', 'tcp/8.8.8.8:443', '8.8.8.8'],
  ['multiaddr', '/ip4/8.8.8.8/tcp/4001', '8.8.8.8'],
  ['multiaddr', '/ip6/2001:db8::1/udp/4001/quic-v1', '2001:db8::1'],
  ['multiaddr, DNS', '/dns4/a.example/tcp/4001/ip4/8.8.4.4', '8.8.4.4'],
  [
    'Squid',
    '1286536309.586 921 81.2.69.160 TCP_MISS/200 507 GET http://a.example/ - HIER_DIRECT/93.184.216.34 text/html',
    '81.2.69.160',
    '93.184.216.34',
  ],
  ['Squid 2', 'TCP_MISS/200 507 GET http://a.example/ - DIRECT/93.184.216.34 -', '93.184.216.34'],
  [
    'Squid, a parent',
    'TCP_MISS/200 507 GET http://a.example/ - FIRSTUP_PARENT/10.0.0.3 -',
    '10.0.0.3',
  ],
  ['path', 'GET /json/8.8.8.8 HTTP/1.1', '8.8.8.8'],
  ['URL', 'https://geo.example/v1/ip/8.8.8.8?fields=x', '8.8.8.8'],
  ['Java, InetAddress.toString', 'Connection refused: localhost/127.0.0.1:8080', '127.0.0.1'],
  [
    'Java, InetAddress.toString',
    'remote www.example.com/93.184.216.34, /81.2.69.160:51234',
    '93.184.216.34',
    '81.2.69.160',
  ],
  [
    'Cisco ASA',
    '%ASA-4-106100: access-list in denied tcp outside/81.2.69.160(51234) -> inside/10.0.0.5(443) hit-cnt 1',
    '81.2.69.160',
    '10.0.0.5',
  ],
  [
    'Cisco ASA',
    'Built inbound TCP connection 5 for outside:81.2.69.160/51234 (81.2.69.160/51234) to inside:10.0.0.5/443',
    '81.2.69.160',
    '81.2.69.160',
    '10.0.0.5',
  ],
  ['a number no version has', 'jane/203.0.113.9 logged in', '203.0.113.9'],
  ['product', 'Mozilla/5.0 (X11) Chrome/120.0.0.0 Safari/537.36 Edg/120.0.0.0'],
  ['product, escaped as PHP does', '"Mozilla\\/5.0 Chrome\\/120.0.0.0"'],
  ['product, escaped in a URL', 'ua=Mozilla%2F5.0+Chrome%2F120.0.0.0'],
  ['client hint', 'Sec-CH-UA-Full-Version-List: "Chromium";v="120.0.0.0"'],
  ['.NET', 'System.Web, Version=4.0.0.0, Culture=neutral'],
  [
    'package',
    'libfoo_1.2.3.4_amd64.deb foo-1.2.3.4.tar.gz bar-1.2.3.4-1.el9.x86_64.rpm v1.2.3.4 1.2.3.4-beta 1.2.3.4-rc1',
  ],
  ['object identifier, Instagram', '1.3.6.1.4 1.3.6.1.4.1.311 123.0.0.21.114 1.2.3.4.5'],
  ['five numbers and no format', 'Windows 10.0.0.1.22621'],
  ['five numbers and no format', 'OID 1.3.6.1.12345, 2.16.1.113.10197'],
  ['five numbers and no format', 'Edge 1.1.1.1.12345, Edge 120.0.0.1.12345'],
  ['five numbers and words of netstat', 'Windows 10.0.0.1.22 LISTEN'],
  [
    'five numbers and words of netstat',
    '5 agents IDLE: 1.2.3.4.5, BOUND to 7.2.1.5.6, CLOSING 1.2.3.4.55',
  ],
  [
    'netfilter',
    'IN=eth0 MAC=aa:bb:cc:dd:ee:ff:11:22:33:44:55:66:08:00 SRC=81.2.69.160',
    '81.2.69.160',
  ],
  [
    'fingerprints',
    'MD5:aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99 aa:bb:cc:dd:ee:ff:00:11:22 sha256:9f86d081',
  ],
]
