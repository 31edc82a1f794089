/** @schedule first: waits for registrations to expire and to be retried. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents } from '../support/agents.ts'
import { digestFits, digestParameters } from '../support/digest.ts'
import { OutgoingGateway } from '../support/outgoing.ts'
import { headerOf } from '../support/sip-text.ts'
import { Sipp, type SippValue } from '../support/sipp.ts'
import { until } from '../support/until.ts'

const auth = { username: 'trunk-7', password: 'trunk-secret-7', realm: 'carrier.test' }
const challenge = 'WWW-Authenticate: Digest realm="carrier.test", nonce="f00d", algorithm=MD5, qop="auth"'

/**
 * SIPp scenario and answers of each test's carrier. The gateway registers with all at its start, because most
 * of the time is spent between attempts.
 */
const answering: Readonly<Record<string, readonly [string, Readonly<Record<string, SippValue>>]>> = {
  granting: ['registrar', { challenge: [challenge], granted: ['Expires: 6'] }],
  longer: ['registrar-longer', { longer: ['Min-Expires: 1800'] }],
  // A long interval, since the next REGISTER could meet the SIPp of the call.
  failing: ['registrar-answers', { status: '500', headers: ['Retry-After: 600'] }],
  refusing: ['registrar-answers', { status: '403' }],
}

describe.each(agents)('a registration with a carrier, by $name', (agent) => {
  let outgoing: OutgoingGateway
  const registrars = new Map<string, Sipp>()

  beforeAll(async () => {
    const rules = { auth, register: { expires: '10m' } }
    const carriers = Object.fromEntries(Object.keys(answering).map((name) => [name, rules]))
    outgoing = await OutgoingGateway.start(agent, carriers, {}, async (portOf) => {
      for (const [name, [scenario, values]] of Object.entries(answering)) {
        const options = { scenario, values, port: portOf(name), mediaPorts: [0], timeoutMs: 90_000 }
        registrars.set(name, await Sipp.start(options))
      }
    })
  })

  afterAll(async () => {
    for (const registrar of registrars.values()) await registrar.stop()
    await outgoing?.stop()
  })

  const registrar = (name: string): Sipp => registrars.get(name)!

  const reaches = (carrier: string, state: string): Promise<unknown> =>
    until(
      `the registration is ${state}`,
      () => outgoing.gateway.metric('registration_state', { carrier, state }),
      (value) => value === 1,
      30_000,
    )

  it('is repeated with a longer interval after 423', async () => {
    await registrar('longer').succeeded()
    await reaches('longer', 'registered')
    const asked = registrar('longer')
      .received('REGISTER')
      .map((request) => headerOf(request, 'Expires'))
    expect([...new Set(asked)]).toEqual(['600', '1800'])
  })

  it('is retried later when the carrier fails, while calls to the carrier continue', async () => {
    await registrar('failing').event('asked')
    await reaches('failing', 'backoff')
    await registrar('failing').stop()
    const callee = await outgoing.target('failing', 'callee-takes')
    await outgoing.ended(await outgoing.call('failing', 'call'), callee)
  })

  it('stops after three rejections, and the carrier gets no more calls', async () => {
    await reaches('refusing', 'rejected')
    expect(registrar('refusing').received('REGISTER').length).toBeGreaterThanOrEqual(3)
    await registrar('refusing').stop()
    const caller = await outgoing.call('refusing', 'call-refused', { values: { status: 500 } })
    await caller.done()
    expect(await outgoing.gateway.refusal('unreachable')).toMatchObject({
      detail: expect.stringContaining('registration rejected'),
    })
  })

  it('answers a challenge, is refreshed at half of the granted time, and is removed while draining', async () => {
    const granting = registrar('granting')
    await granting.event('registered')
    await reaches('granting', 'registered')
    await granting.event('refreshed')
    outgoing.gateway.terminate()
    await granting.event('taken-back')
    await granting.succeeded()
    const [first = '', signed = '', ...later] = granting.received('REGISTER')
    expect(headerOf(first, 'Expires')).toBe('600')
    expect(headerOf(first, 'To')).toBe('<sip:trunk-7@127.0.0.1>')
    expect(headerOf(first, 'Contact')).toContain(`sip:trunk-7@127.0.0.1:${outgoing.gateway.sipPort}`)
    expect(headerOf(first, 'Authorization')).toBeUndefined()
    const answers = [signed, ...later].map((request) => headerOf(request, 'Authorization') ?? '')
    for (const answer of answers) expect(digestFits(answer, { method: 'REGISTER', ...auth })).toBe(true)
    // The nonce is used again with a higher count.
    expect(digestParameters(answers[1] ?? '').nc).toBe('00000002')
    const callIds = [first, signed, ...later].map((request) => headerOf(request, 'Call-ID'))
    expect(new Set(callIds).size).toBe(1)
    expect(headerOf(later.at(-1) ?? '', 'Expires')).toBe('0')
    expect(JSON.stringify(outgoing.gateway.log)).not.toContain(auth.password)
  })
})
