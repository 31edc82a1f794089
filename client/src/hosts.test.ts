import { describe, expect, it } from 'vitest'
import { resolveHosts } from './hosts.ts'

const plain = { protocol: 'http:', host: 'localhost:5173' }
const secure = { protocol: 'https:', host: 'gw.example.test' }

describe('the host option', () => {
  it.each([
    ['localhost:8080', plain, 'ws://localhost:8080/', 'http://localhost:8080'],
    ['127.0.0.1:8080', plain, 'ws://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['[::1]:8080', plain, 'ws://[::1]:8080/', 'http://[::1]:8080'],
    ['gw.localhost', undefined, 'ws://gw.localhost/', 'http://gw.localhost'],
    ['localhost:8080', secure, 'wss://localhost:8080/', 'https://localhost:8080'],
    ['gw.example.test:8443', plain, 'wss://gw.example.test:8443/', 'https://gw.example.test:8443'],
    ['gw.example.test:80', plain, 'wss://gw.example.test:80/', 'https://gw.example.test:80'],
    ['gw.example.test:443', plain, 'wss://gw.example.test:443/', 'https://gw.example.test:443'],
    ['ws://10.0.0.5:8080', secure, 'ws://10.0.0.5:8080/', 'http://10.0.0.5:8080'],
    ['wss://gw.test/path?a=1', plain, 'wss://gw.test/path?a=1', 'https://gw.test'],
    ['https://gw.test', plain, 'wss://gw.test/', 'https://gw.test'],
    ['http://gw.test:81/', plain, 'ws://gw.test:81/', 'http://gw.test:81'],
  ] as const)('%s leads to %s', (host, page, socket, http) => {
    expect(resolveHosts(host, page)).toMatchObject({ socket, http })
  })

  it('defaults to the host of the page, with the security of the page', () => {
    expect(resolveHosts(undefined, secure).socket).toBe('wss://gw.example.test/')
    expect(resolveHosts('', { protocol: 'http:', host: '10.0.0.5:8080' })).toEqual({
      socket: 'ws://10.0.0.5:8080/',
      http: 'http://10.0.0.5:8080',
      httpHost: '10.0.0.5:8080',
    })
  })

  it.each(['ftp://x', 'a b', '://', 'http://'])('rejects %s', (host) => {
    expect(() => resolveHosts(host, plain)).toThrow(expect.objectContaining({ code: 'bad_host' }))
  })

  it('is required outside a page', () => {
    expect(() => resolveHosts(undefined, undefined)).toThrow(/no page/)
  })
})
