import { afterEach, describe, expect, it } from 'vitest'
import { agents } from '../support/agents.ts'
import type { Carrier } from '../support/carrier.ts'
import { digestFits, digestParameters } from '../support/digest.ts'
import { OutgoingGateway } from '../support/outgoing.ts'
import { headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

const auth = { username: 'trunk-7', password: 'trunk-secret-7', realm: 'carrier.test' }
const challenge = 'WWW-Authenticate: Digest realm="carrier.test", nonce="f00d", algorithm=MD5, qop="auth"'

describe.each(agents)('registrations with carriers, by $name', (agent) => {
  let outgoing: OutgoingGateway

  afterEach(() => outgoing?.stop())

  /** A gateway that registers, as it begins with its start, and the registrar. */
  const registers = async (
    scenario: string,
    values: Readonly<Record<string, string | readonly string[]>> = {},
    register: object = { expires: '10m' },
  ): Promise<Carrier> => {
    outgoing = await OutgoingGateway.start(agent, { acme: { auth, register } })
    return outgoing.target('acme', scenario, { values, timeoutMs: 60_000 })
  }

  const reaches = (state: string): Promise<unknown> =>
    until(
      `the registration is ${state}`,
      () => outgoing.gateway.metric('registration_state', { carrier: 'acme', state }),
      (value) => value === 1,
    )

  it('answer a challenge, are refreshed at half of what was granted, and taken back while draining', async () => {
    const registrar = await registers('registrar', { challenge: [challenge], granted: ['Expires: 6'] })
    await registrar.sipp.event('registered')
    await reaches('registered')
    await registrar.sipp.event('refreshed')
    outgoing.gateway.terminate()
    await registrar.sipp.event('taken-back')
    await registrar.done()
    const [first = '', signed = '', ...later] = registrar.sipp.received('REGISTER')
    expect(headerOf(first, 'Expires')).toBe('600')
    expect(headerOf(first, 'To')).toBe('<sip:trunk-7@127.0.0.1>')
    expect(headerOf(first, 'Contact')).toContain(`sip:trunk-7@127.0.0.1:${outgoing.gateway.sipPort}`)
    expect(headerOf(first, 'Authorization')).toBeUndefined()
    const answers = [signed, ...later].map((request) => headerOf(request, 'Authorization') ?? '')
    for (const answer of answers) expect(digestFits(answer, { method: 'REGISTER', ...auth })).toBe(true)
    // The nonce serves again, each time with a new count.
    expect(digestParameters(answers[1] ?? '').nc).toBe('00000002')
    const callIds = [first, signed, ...later].map((request) => headerOf(request, 'Call-ID'))
    expect(new Set(callIds).size).toBe(1)
    expect(headerOf(later.at(-1) ?? '', 'Expires')).toBe('0')
    expect(JSON.stringify(outgoing.gateway.log)).not.toContain(auth.password)
  })

  it('ask for longer when a carrier wants that', async () => {
    const registrar = await registers('registrar-longer', { longer: ['Min-Expires: 1800'] })
    await registrar.done()
    await reaches('registered')
    const asked = registrar.sipp.received('REGISTER').map((request) => headerOf(request, 'Expires'))
    expect([...new Set(asked)]).toEqual(['600', '1800'])
  })

  it('are tried again later when the carrier fails, and calls go on', async () => {
    const registrar = await registers('registrar-answers', { status: '500' })
    await registrar.sipp.event('asked')
    await reaches('backoff')
    await registrar.sipp.stop()
    const callee = await outgoing.target('acme', 'callee-takes')
    await outgoing.ended(await outgoing.call('acme', 'call'), callee)
  })

  it('stop when the carrier refuses them three times, and it gets no more calls', async () => {
    const registrar = await registers('registrar-answers', { status: '403' })
    await reaches('rejected')
    expect(registrar.sipp.received('REGISTER').length).toBeGreaterThanOrEqual(3)
    await registrar.sipp.stop()
    const caller = await outgoing.call('acme', 'call-refused', { values: { status: 500 } })
    await caller.done()
    expect(await outgoing.gateway.refusal('unreachable')).toMatchObject({
      detail: expect.stringContaining('it refuses our registration'),
    })
  })
})
