import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { carrier, carriers, testFolder } from '../testing/config-test-folder.ts'
import { publishedPasswords } from './access-warnings.ts'
import { warningsOf } from './warnings.ts'

const { load } = testFolder()
const warned = (text: string) => warningsOf(load(text)).map(({ keys }) => keys.join('.'))
const loopback = `sip: { listen: [{ transport: udp, address: 127.0.0.1 }] }
http: { tls: { address: "::1" } }
`
const person = (password: string, more = '') =>
  `subscribers: [{ email: ann@x.example, password: ${password}${more} }]\n`

describe('passwords', () => {
  it.each([
    ['of the example', person('alice-demo'), 'subscribers.0.password'],
    [
      'that are the user name',
      'subscribers: [{ email: ann@x.example, password: Ann@x.example }]',
      'subscribers.0.password',
    ],
    [
      'of an endpoint, of the documentation',
      'sip: { registrar: { domains: [a] } }\nendpoints: [{ username: desk, password: its-own-secret }]',
      'endpoints.0.password',
    ],
    [
      'of a domain, with fewer than eight characters',
      'domains: [{ domain: a, challenge: { username: u, password: seven77 } }]',
      'domains.0.challenge.password',
    ],
    [
      'of a carrier, with fewer than eight characters',
      carriers(carrier('challenge: { username: u, password: seven77 }')),
      'carriers.0.challenge.password',
    ],
  ])('%s are told of where other machines reach the gateway, and only there', (_what, text, key) => {
    expect(warned(text)).toEqual([key])
    if (!text.startsWith('sip:')) expect(warned(`${loopback}${text}`)).toEqual([])
  })

  it('that are long and of nobody else are not', () => {
    expect(warned(person('Xk4-pw_9zz'))).toEqual([])
  })

  it('of the example are all known', () => {
    const example = readFileSync(new URL('../example.yaml', import.meta.url), 'utf8')
    const written = [...example.matchAll(/^\s*password: "?(?:\$\{\w+:-)?([\w-]+)/gm)].map(
      ([, password]) => password,
    )
    expect(written).toContain('alice-demo')
    expect(written.filter((password) => !publishedPasswords.has(password ?? ''))).toEqual([])
  })
})

describe('a carrier that takes every number', () => {
  const dials = person('Xk4-pw_9zz', ', mayDialOut: true')

  it('is told of where a subscriber or an endpoint of its project may dial out', () => {
    expect(warned(`${dials}${carriers(carrier('default: true'))}`)).toEqual(['carriers.0'])
    const phone =
      'sip: { registrar: { domains: [a] } }\nendpoints: [{ username: desk, password: Xk4-pw_9zz, mayDialOut: true }]\n'
    expect(warned(`${phone}${carriers(carrier('default: true'))}`)).toEqual(['carriers.0'])
  })

  it('is not where it has lists, or nobody may dial out', () => {
    expect(warned(`${dials}${carriers(carrier('numbers: { refuse: ["+882"] }'))}`)).toEqual([])
    expect(warned(`${person('Xk4-pw_9zz')}${carriers(carrier('default: true'))}`)).toEqual([])
  })
})
