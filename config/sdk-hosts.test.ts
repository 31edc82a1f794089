import { expect, it } from 'vitest'
import { sdkHosts } from './sdk-hosts.ts'

it.each([
  [undefined, ['localhost']],
  ['gw.example.test', ['gw.example.test', 'fabric.example.test']],
  ['gw.example.test:8443', ['gw.example.test', 'fabric.example.test']],
  ['a.b.example.test', ['a.b.example.test', 'fabric.b.example.test']],
  ['gateway', ['gateway']],
  ['192.0.2.1:8443', ['192.0.2.1']],
  ['[2001:db8::1]:8443', ['2001:db8::1']],
])('the hosts of %s are %j', (publicHost, hosts) => {
  expect(sdkHosts(publicHost)).toEqual(hosts)
})
