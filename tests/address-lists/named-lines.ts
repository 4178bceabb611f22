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
  ['a path called version', 'GET /api/version 81.2.69.160 200', '81.2.69.160'],
  ['a path called version', '"GET /version" 81.2.69.160 200', '81.2.69.160'],
  ['a path called version', '"GET /version" "8.8.8.8" /version: 1.2.3.4', '8.8.8.8', '1.2.3.4'],
  ['a word that ends like version', 'purchase conversion 81.2.69.160', '81.2.69.160'],
  ['a word that ends like version', 'conversion=8.8.8.8 inversion: 1.2.3.4', '8.8.8.8', '1.2.3.4'],
  ['a cell called version', 'version\t8.8.8.8', '8.8.8.8'],
  ['a cell called version', 'ip-version|8.8.8.8|rv|8.8.4.4', '8.8.8.8', '8.8.4.4'],
  ['a cell called version', 'version,8.8.8.8;ver;8.8.4.4', '8.8.8.8', '8.8.4.4'],
  ['a cell called version', 'api version 81.2.69.160', '81.2.69.160'],
  [
    'a value called v',
    'k=v=8.8.8.8 tag:v=8.8.8.8 k=version=8.8.4.4',
    '8.8.8.8',
    '8.8.8.8',
    '8.8.4.4',
  ],
  [
    'a version in JSON',
    '{"version": "1.2.3.4", "v": "8.8.8.8", "appVersion" : "7.2.1.5", "ver":"1.2.3.4"}',
  ],
  ['a version in JSON, escaped', '{"m":"{\\"version\\": \\"1.2.3.4\\",\\"v\\":\\"1.2.3.4\\"}"}'],
  [
    'a version in Ruby and PHP',
    "version => '1.2.3.4', \"version\" => \"1.2.3.4\", 'v' => '1.2.3.4'",
  ],
  ['a version in YAML and XML', 'version: 1.2.3.4 <version>1.2.3.4</version>'],
  [
    'a version and a space',
    'OpenVPN version 2.4.7.1, java version "1.8.0.2", Cisco IOS, Version 15.2.4.3',
  ],
  ['app', 'com.google.android.gms/23.1.1.5 iPhone'],
  ['app', 'org.telegram.messenger/10.1.2.3 com.example.app/1.2.3.4 jp.naver.line.android/9.1.2.3'],
  ['app', 'de.example.mail/7.1.2.3 us.zoom.videomeetings/5.1.2.3 io.example.tool/1.2.3.4'],
  ['program', 'curl.exe/1.2.3.4 node.js/10.1.2.3 kernel32.dll/6.1.2.3 tool.py/1.2.3.4'],
  [
    'Java, InetAddress.toString',
    'db1.prod.internal/10.1.2.3 de.wikipedia.org/91.1.2.3 a.example.de/8.8.8.8',
    '10.1.2.3',
    '91.1.2.3',
    '8.8.8.8',
  ],
  [
    'URL in JSON, escaped as PHP does',
    '{"url":"https:\\/\\/geo.example\\/v1\\/ip\\/8.8.8.8"}',
    '8.8.8.8',
  ],
  [
    'path in JSON, escaped as PHP does',
    '{"path":"\\/json\\/8.8.8.8","to":"HIER_DIRECT\\/93.184.216.34"}',
    '8.8.8.8',
    '93.184.216.34',
  ],
  [
    'host in JSON, escaped as PHP does',
    '"www.example.com\\/93.184.216.34" "\\/ip4\\/8.8.8.8"',
    '93.184.216.34',
    '8.8.8.8',
  ],
  ['version in JSON, escaped as PHP does', '"https:\\/\\/a.example\\/v\\/1.2.3.4"'],
  ['mask', '10.0.0.1/255.255.255.0', '10.0.0.1'],
  [
    'mask',
    'route 192.168.0.0/255.255.0.0 and "10.0.0.1\\/255.255.255.252", inet=8.8.8.8/255.255.255.255',
    '192.168.0.0',
    '10.0.0.1',
    '8.8.8.8',
  ],
  ['broadcast', 'udp/255.255.255.255 client/255.255.255.255', '255.255.255.255', '255.255.255.255'],
  [
    'package',
    'nginx-1.2.3.4 foo_1.2.3.4 FortiOS-7.2.1.5 foo-1.2.3.4-1.amzn2 1.2.3.4-r0 lib2-1.2.3.4',
  ],
  [
    'name-address',
    'web-81.2.69.160 nginx-10.0.0.5 cache_203.0.113.9 google-8.8.8.8 cloudflare_1.1.1.1 src-7.2.1.5',
    '81.2.69.160',
    '10.0.0.5',
    '203.0.113.9',
    '8.8.8.8',
    '1.1.1.1',
    '7.2.1.5',
  ],
  ['address-name', '81.2.69.160-1700000000-debug', '81.2.69.160'],
  [
    'address-name',
    '81.2.69.160-dev 81.2.69.160-all.log 81.2.69.160-80-all 81.2.69.160-snapshot 81.2.69.161-stable 8.8.8.8-prefix 8.8.4.4-device 8.8.4.5-1-allowed',
    '81.2.69.160',
    '81.2.69.160',
    '81.2.69.160',
    '81.2.69.160',
    '81.2.69.161',
    '8.8.8.8',
    '8.8.4.4',
    '8.8.4.5',
  ],
  ['package', '1.2.3.4-dev 1.2.3.4-linux 1.2.3.4-1deb11u1 1.2.3.4-stable'],
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
  ['Squid, a status before', 'TCP_MISS:ORIGINAL_DST/34.1.2.3', '34.1.2.3'],
]

/** Squid's ways to servers: its source (hier_code.h), its wiki ("Features/LogFormat") and older versions. */
export const SQUID_WAYS = `
  HIER_NONE HIER_DIRECT SIBLING_HIT PARENT_HIT DEFAULT_PARENT
  SINGLE_PARENT FIRSTUP_PARENT FIRST_PARENT_MISS CLOSEST_PARENT_MISS CLOSEST_PARENT
  CLOSEST_DIRECT NO_DIRECT_FAIL SOURCE_FASTEST ROUNDROBIN_PARENT CD_PARENT_HIT
  CD_SIBLING_HIT CARP ANY_OLD_PARENT USERHASH_PARENT SOURCEHASH_PARENT
  PINNED ORIGINAL_DST STANDBY_POOL NO_PARENT_DIRECT FIRST_UP_PARENT
  NO_CACHE_DIGEST_DIRECT CACHE_DIGEST_HIT ANY_PARENT TIMEOUT_CARP TIMEOUT_CLOSEST_PARENT_MISS
`
