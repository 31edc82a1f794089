import { describe, expect, it } from 'vitest'
import { testFolder } from '../testing/config-test-folder.ts'

const { load, placesOf: places } = testFolder()
const client = (more = '', uri = 'https://app.example/cb', id = 'phone') =>
  `{ id: ${id}, name: Phone, redirectUris: ["${uri}"]${more} }`
const oauth = (clients: string, more = 'url: "https://gw.example"') =>
  `oauth: { ${more}, clients: [${clients}] }`

describe('OAuth clients', () => {
  it('have lifetimes in milliseconds', () => {
    const text = oauth(client(), 'url: "https://gw.example:8443", accessTokenTtl: 10m, refreshTokenTtl: 7d')
    expect(load(text).oauth).toEqual({
      url: 'https://gw.example:8443',
      clients: [{ id: 'phone', name: 'Phone', redirectUris: ['https://app.example/cb'], native: false }],
      accessTokenTtlMs: 600_000,
      refreshTokenTtlMs: 7 * 86_400_000,
    })
  })

  it('need no URL if there is a public host', () => {
    const text = `http: { publicHost: gw.example }\noauth: { clients: [${client()}] }`
    expect(load(text).oauth.clients).toHaveLength(1)
  })

  it.each([
    ['without a URL', `oauth: { clients: [${client()}] }`, 'oauth.clients'],
    ['with the same id', oauth(`${client()}, ${client()}`), 'oauth.clients[1].id'],
    ['of an unknown project', oauth(client(', project: none')), 'oauth.clients[0].project'],
    ['without TLS', oauth(client('', 'http://app.example/cb')), 'oauth.clients[0].redirectUris[0]'],
    ['with a private scheme', oauth(client('', 'com.example.app:/cb')), 'oauth.clients[0].redirectUris[0]'],
    ['without a redirect', oauth('{ id: a, name: b, redirectUris: [] }'), 'oauth.clients[0].redirectUris'],
    ['at a URL with a path', oauth(client(), 'url: "https://gw.example/auth"'), 'oauth.url'],
    ['at a URL without TLS', oauth(client(), 'url: "http://gw.example"'), 'oauth.url'],
  ])('may not be %s', (_what, text, where) => {
    expect(places(text)).toEqual([where])
  })
})
