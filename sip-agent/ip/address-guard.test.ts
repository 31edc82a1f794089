import { describe, expect, it } from 'vitest'
import { AddressGuard } from './address-guard.ts'

describe('the address guard', () => {
  const guard = new AddressGuard([])

  it.each([
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('permits the public address %s', (address) => {
    expect(guard.permits(address)).toBe(true)
  })

  it.each([
    ['loopback', '127.0.0.1'],
    ['all of loopback', '127.255.0.9'],
    ['this host', '0.0.0.0'],
    ['private 10', '10.1.2.3'],
    ['private 172.16', '172.31.255.255'],
    ['private 192.168', '192.168.0.1'],
    ["carriers' NAT", '100.64.0.1'],
    ["the clouds' metadata", '169.254.169.254'],
    ['documentation', '192.0.2.1'],
    ['benchmarks', '198.19.0.1'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['IPv6 loopback', '::1'],
    ['the unspecified address', '::'],
    ['IPv6 link-local', 'fe80::1'],
    ['IPv6 link-local with a zone', 'fe80::1%eth0'],
    ['IPv6 private', 'fd00:ec2::254'],
    ['IPv6 multicast', 'ff02::1'],
    ['IPv6 documentation', '2001:db8::1'],
    ['Teredo', '2001:0:53aa:64c::1'],
    ['6to4', '2002:7f00:1::'],
    ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
    ['IPv4-mapped loopback in hexadecimal', '0:0:0:0:0:ffff:7f00:1'],
    ['IPv4-mapped this host', '::ffff:0.0.0.0'],
    ['IPv4-mapped metadata', '::ffff:a9fe:a9fe'],
    ['IPv4-compatible', '::8.8.8.8'],
    ['NAT64 to a private address', '64:ff9b::a00:1'],
    ['local NAT64', '64:ff9b:1::a00:1'],
    ['no address', 'localhost'],
  ])('rejects %s', (_what, address) => {
    expect(guard.permits(address)).toBe(false)
  })

  it('permits the networks that are allowed by name, and no others', () => {
    const open = new AddressGuard(['127.0.0.0/8', '::1/128'])
    expect(['127.0.0.1', '::1', '::ffff:127.0.0.1'].map((address) => open.permits(address))).toEqual([
      true,
      true,
      true,
    ])
    expect(['10.0.0.1', '::2', '::ffff:10.0.0.1'].map((address) => open.permits(address))).toEqual([
      false,
      false,
      false,
    ])
  })
})
