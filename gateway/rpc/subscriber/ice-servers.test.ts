import { describe, expect, it, onTestFinished } from 'vitest'
import type { AnyFrame } from '../testing/test-browser.ts'
import { iceServersFor, turnCredential } from './ice-servers.ts'
import { gone } from './testing/call-setup.ts'
import { SubscriberTestGateway } from './testing/subscriber-test-gateway.ts'

const secret = 'a-shared-secret-of-both'
const udp = 'turn:turn.test:3478?transport=udp'
const tls = 'turns:turn.test:443?transport=tcp'
const user = { id: 'alice-id', expiresAt: 0 }
const now = 1_700_000_000_000

describe('TURN credentials', () => {
  it('follow the shared-secret scheme', () => {
    // printf 1700000060:alice-id | openssl dgst -sha1 -hmac a-shared-secret-of-both -binary | base64
    expect(turnCredential(secret, 'alice-id', 1_700_000_060)).toEqual({
      username: '1700000060:alice-id',
      credential: '+mWaUfkKGleo1Rw78mgHgu0pEPY=',
    })
  })

  it('are the same for all TURN servers, and absent for STUN servers', () => {
    const turn = { urls: [udp, 'stun:stun.test', tls], secret, ttlMs: 60_000 }
    expect(iceServersFor(turn, user, now)).toEqual([
      { urls: ['stun:stun.test'] },
      { urls: [udp, tls], ...turnCredential(secret, 'alice-id', 1_700_000_060) },
    ])
  })

  it('expire no sooner than the token of the browser', () => {
    const [server] = iceServersFor(
      { urls: [udp], secret, ttlMs: 60_000 },
      { ...user, expiresAt: 1_700_009_999 },
      now,
    )
    expect(server?.username).toBe('1700009999:alice-id')
  })

  it('are absent with STUN servers alone', () => {
    const turn = { urls: ['stun:a.test', 'STUN:b.test'], ttlMs: 60_000 }
    expect(iceServersFor(turn, user, now)).toEqual([{ urls: ['stun:a.test', 'STUN:b.test'] }])
  })

  it('are new for each connection and for each new token', async () => {
    const gateway = await SubscriberTestGateway.start()
    onTestFinished(() => gateway.close())
    gateway.stopGateway()
    gateway.turn = { urls: ['turn:turn.test'], secret, ttlMs: 7_200_000 }
    gateway.startGateway()
    const page = await gateway.page()
    const { id } = gateway.subscriber('alice')
    const end = (result: AnyFrame) => {
      const [server, ...others] = result.ice_servers as { urls: string[]; username: string }[]
      expect(others).toEqual([])
      expect(server?.urls).toEqual(['turn:turn.test'])
      const [seconds, user] = server?.username.split(':') ?? []
      expect(user).toBe(id)
      return Number(seconds)
    }
    const first = await page.connect(await gateway.token())
    expect(end(first)).toBe(Math.ceil(gateway.clock.now() / 1000) + 7200)
    gateway.clock.advance(5000)
    const jwt_token = await gateway.token()
    const renewed = await page.ask('signalwire.reauthenticate', { authentication: { jwt_token } })
    expect(end(renewed)).toBe(end(first) + 5)
    gateway.clock.advance(5000)
    await gone(gateway, page)
    const again = await (await gateway.page()).connect(jwt_token)
    expect(end(again)).toBe(end(first) + 10)
    expect(gateway.lines.join('\n')).not.toContain((again.ice_servers as AnyFrame[])[0]?.credential)
  })
})
