import { describe, expect, it } from 'vitest'
import { testFolder } from '../testing/config-test-folder.ts'
import { warningsOf } from './warnings.ts'

const { load, faultsOf, placesOf } = testFolder()
const secret = 'a-shared-secret-of-both'
const turn = (urls: readonly string[], more = `, secret: ${secret}`) =>
  `media: { webrtc: { turn: { urls: ${JSON.stringify(urls)}${more} } } }`

describe('TURN servers', () => {
  it('are none by default', () => {
    expect(load('').media.webrtc).not.toHaveProperty('turn')
  })

  it('have passwords that are valid for twelve hours by default', () => {
    expect(load(turn(['turn:turn.example'])).media.webrtc.turn).toEqual({
      urls: ['turn:turn.example'],
      secret,
      ttlMs: 43_200_000,
    })
    expect(load(turn(['turn:turn.example'], `, secret: ${secret}, ttl: 1m`)).media.webrtc.turn?.ttlMs).toBe(
      60_000,
    )
  })

  it.each([
    'turn:turn.example:3478?transport=udp',
    'turn:[2001:db8::1]:3478?transport=tcp',
    'turns:192.0.2.1:443?transport=tcp',
    'TURN:turn.example',
  ])('may be %s', (url) => {
    expect(load(turn([url, 'stun:stun.example:3478'])).media.webrtc.turn?.urls).toHaveLength(2)
  })

  it.each([
    ['no server', turn([]), 'urls'],
    ['a server without a scheme', turn(['turn.example']), 'urls[0]'],
    ['a URL', turn(['turn://turn.example']), 'urls[0]'],
    ['a user', turn(['turn:me@turn.example']), 'urls[0]'],
    ['an invalid port', turn(['turn:turn.example:70000']), 'urls[0]'],
    ['an unknown transport', turn(['turn:turn.example?transport=sctp']), 'urls[0]'],
    ['UDP with TLS', turn(['turns:turn.example?transport=udp']), 'urls[0]'],
    ['STUN with a transport', turn(['turn:a.example', 'stun:b.example?transport=udp']), 'urls[1]'],
    ['a short lifetime', turn(['turn:turn.example'], `, secret: ${secret}, ttl: 59s`), 'ttl'],
    ['a secret for STUN', turn(['stun:stun.example']), 'secret'],
  ])('are rejected with %s', (_what, text, where) => {
    expect(placesOf(text)).toEqual([`media.webrtc.turn.${where}`])
  })

  it('need a secret, which no message contains', () => {
    expect(placesOf(turn(['stun:stun.example', 'turns:turn.example'], ''))).toEqual(['media.webrtc.turn'])
    const [fault] = faultsOf(turn(['turn:turn.example'], ', secret: too-short'))
    expect(fault).toMatchObject({ path: 'media.webrtc.turn.secret' })
    expect(fault?.message).not.toContain('too-short')
  })

  it('cause a warning if there is only a STUN server', () => {
    const warned = (text: string) => warningsOf(load(text)).map(({ keys }) => keys.join('.'))
    expect(warned(turn(['stun:stun.example'], ''))).toContain('media.webrtc.turn.urls')
    expect(warned(turn(['stun:stun.example', 'turn:turn.example']))).not.toContain('media.webrtc.turn.urls')
  })
})
