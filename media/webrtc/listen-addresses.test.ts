import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { listenAddresses } from './listen-addresses.ts'

const address = (ip: string, more: Partial<NetworkInterfaceInfo> = {}) =>
  ({
    address: ip,
    family: 'IPv4',
    internal: false,
    netmask: '',
    mac: '',
    cidr: null,
    ...more,
  }) as NetworkInterfaceInfo
const interfaces = () => ({
  lo: [address('127.0.0.1', { internal: true })],
  eth0: [address('192.0.2.1'), address('2001:db8::1', { family: 'IPv6' } as Partial<NetworkInterfaceInfo>)],
  eth1: [address('198.51.100.1'), address('169.254.3.4')],
  gone: undefined,
})

describe('listen addresses', () => {
  it('are all of the machine for 0.0.0.0, each bound separately', () => {
    const all = ['192.0.2.1', '198.51.100.1', '127.0.0.1']
    expect(listenAddresses('0.0.0.0', [], interfaces)).toEqual({
      listen: all.map((ip) => ({ ip })),
      addresses: all,
    })
  })

  it('are the bound one if specific', () => {
    expect(listenAddresses('192.0.2.1', [], interfaces)).toEqual({
      listen: [{ ip: '192.0.2.1' }],
      addresses: ['192.0.2.1'],
    })
  })

  it('are the announced ones unchanged, over one socket', () => {
    const announce = ['203.0.113.9', 'edge.example.com']
    expect(listenAddresses('0.0.0.0', announce, interfaces)).toEqual({
      listen: [{ ip: '0.0.0.0', announced: '203.0.113.9' }],
      addresses: announce,
    })
    expect(listenAddresses('192.0.2.1', ['192.0.2.1'], interfaces).listen).toEqual([{ ip: '192.0.2.1' }])
  })
})
