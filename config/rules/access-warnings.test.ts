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
      'that equal the user name',
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
  ])('%s cause a warning only if other machines can reach the gateway', (_what, text, key) => {
    expect(warned(text)).toEqual([key])
    if (!text.startsWith('sip:')) expect(warned(`${loopback}${text}`)).toEqual([])
  })

  it('of the example cause one warning, which names each of them', () => {
    const people = ['alice', 'bob'].map((name) => `{ email: ${name}@x.example, password: ${name}-demo }`)
    const found = warningsOf(load(`subscribers: [${people.join(', ')}]`))
    expect(found.map(({ message }) => message)).toEqual([
      'is a password of the published examples (also subscribers[1].password): other machines can reach the gateway',
    ])
  })

  it('that are long and unpublished cause no warning', () => {
    expect(warned(person('Xk4-pw_9zz'))).toEqual([])
  })

  it('of the example are all published passwords', () => {
    const example = readFileSync(new URL('../example.yaml', import.meta.url), 'utf8')
    const written = [...example.matchAll(/^\s*password: "?(?:\$\{\w+:-)?([\w-]+)/gm)].map(
      ([, password]) => password,
    )
    expect(written).toContain('alice-demo')
    expect(written.filter((password) => !publishedPasswords.has(password ?? ''))).toEqual([])
  })
})

describe('a carrier that permits every number', () => {
  const dials = person('Xk4-pw_9zz', ', mayDialOut: true')

  it('causes a warning if a subscriber or an endpoint of its project may dial out', () => {
    expect(warned(`${dials}${carriers(carrier('default: true'))}`)).toEqual(['carriers.0'])
    const phone =
      'sip: { registrar: { domains: [a] } }\nendpoints: [{ username: desk, password: Xk4-pw_9zz, mayDialOut: true }]\n'
    expect(warned(`${phone}${carriers(carrier('default: true'))}`)).toEqual(['carriers.0'])
  })

  it('causes no warning with lists of numbers, or without subscribers who may dial out', () => {
    expect(warned(`${dials}${carriers(carrier('numbers: { refuse: ["+882"] }'))}`)).toEqual([])
    expect(warned(`${person('Xk4-pw_9zz')}${carriers(carrier('default: true'))}`)).toEqual([])
  })
})
