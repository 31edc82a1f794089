import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents } from '../support/agents.ts'
import type { IncomingOptions } from '../support/carrier.ts'
import { digestFits, digestParameters } from '../support/digest.ts'
import { OutgoingGateway } from '../support/outgoing.ts'
import { bodyOf, headerOf } from '../support/sip-text.ts'

const account = { username: 'trunk-7', password: 'trunk-secret-7' }
const named = '"Carrier" <sip:+15551230001@'

describe.each(agents)('the identity that carriers receive, by $name', (agent) => {
  let outgoing: OutgoingGateway

  beforeAll(async () => {
    outgoing = await OutgoingGateway.start(agent, {
      plain: {},
      asserted: { identity: { header: 'p-asserted-identity' } },
      account: { auth: account, identity: { from: 'username', header: 'p-preferred-identity' } },
      fixed: {
        identity: { from: { user: '4930999' }, host: 'us.test', header: 'remote-party-id' },
        number: { prefix: '00', plus: 'strip' },
      },
      realm: { auth: { ...account, realm: 'carrier.test' } },
    })
  })

  afterAll(() => outgoing?.stop())

  /** Places a call to a carrier, and returns the INVITE that the carrier received. */
  const invited = async (carrier: string, values: IncomingOptions['values'] = {}): Promise<string> => {
    const callee = await outgoing.target(carrier, 'callee-takes')
    const caller = await outgoing.call(carrier, 'call', { values })
    await outgoing.ended(caller, callee)
    return callee.sipp.received('INVITE')[0] ?? ''
  }

  describe('the calling party in the INVITE', () => {
    it('is the caller by default, without an asserted identity', async () => {
      const invite = await invited('plain')
      expect(headerOf(invite, 'From')).toContain(named)
      for (const name of ['P-Asserted-Identity', 'P-Preferred-Identity', 'Remote-Party-ID', 'Privacy'])
        expect(headerOf(invite, name)).toBeUndefined()
    })

    it('is also in P-Asserted-Identity if the carrier wants it', async () => {
      expect(headerOf(await invited('asserted'), 'P-Asserted-Identity')).toBe(`${named}127.0.0.1>`)
    })

    it('is the carrier’s account in From, and the caller in P-Preferred-Identity', async () => {
      const invite = await invited('account')
      expect(headerOf(invite, 'From')).toMatch(/^"Carrier" <sip:trunk-7@/)
      expect(headerOf(invite, 'P-Preferred-Identity')).toBe(`${named}127.0.0.1>`)
    })

    it('is a configured user and host, and the called number has the carrier’s format', async () => {
      const invite = await invited('fixed')
      expect(headerOf(invite, 'From')).toMatch(/^"Carrier" <sip:4930999@us\.test>/)
      const party = `${named}us.test>;party=calling;screen=yes;privacy=off`
      expect(headerOf(invite, 'Remote-Party-ID')).toBe(party)
      expect(invite).toMatch(/^INVITE sip:0015557778888@127\.0\.0\.1:/)
    })

    it('is the P-Asserted-Identity of a trusted caller, not its From', async () => {
      const more = ['P-Asserted-Identity: "Real" <sip:+15550009999@carrier.test>']
      const invite = await invited('plain', { more })
      expect(headerOf(invite, 'From')).toContain('"Real" <sip:+15550009999@')
    })

    it('is anonymous in From when the caller requests privacy, and visible only in the asserted identity', async () => {
      const more = ['Privacy: id', 'P-Asserted-Identity: <sip:+15550009999@carrier.test>']
      const invite = await invited('asserted', { more })
      expect(headerOf(invite, 'From')).toContain('"Anonymous" <sip:anonymous@anonymous.invalid>')
      expect(headerOf(invite, 'Privacy')).toBe('id')
      expect(headerOf(invite, 'P-Asserted-Identity')).toContain('sip:+15550009999@127.0.0.1')
      expect(headerOf(await invited('fixed', { more }), 'Remote-Party-ID')).toContain('privacy=full')
    })
  })

  it('Diversion and History-Info of the caller are passed on, and X- headers are not', async () => {
    const more = [
      'Diversion: <sip:+15550003333@carrier.test>;reason=no-answer',
      'History-Info: <sip:+15550003333@carrier.test>;index=1',
      'X-Secret: of the caller',
    ]
    const invite = await invited('plain', { more })
    expect(headerOf(invite, 'Diversion')).toBe('<sip:+15550003333@carrier.test>;reason=no-answer')
    expect(headerOf(invite, 'History-Info')).toBe('<sip:+15550003333@carrier.test>;index=1')
    expect(headerOf(invite, 'X-Secret')).toBeUndefined()
  })

  it('headers of the document and of its URI are sent decoded, and URI parameters unchanged', async () => {
    const to = `sip:+15557778888@127.0.0.1:${outgoing.portOf('plain')};group=berlin?X-Uri=a%20b`
    outgoing.connect = { to, headers: [{ name: 'X-Ticket', value: '4711%20%C3%BC' }] }
    const invite = await invited('plain')
    expect(headerOf(invite, 'X-Ticket')).toBe('4711 ü')
    expect(headerOf(invite, 'X-Uri')).toBe('a b')
    expect(invite).toMatch(/^INVITE sip:\+15557778888@127\.0\.0\.1:\d+;group=berlin /)
  })

  describe('a carrier’s challenge', () => {
    const challenge = (more: string, realm = 'carrier.test') =>
      `Digest realm="${realm}", nonce="c7a3f0e19b5d", ${more}`

    it.each([
      { what: 'MD5', status: 401, field: 'WWW-Authenticate', more: 'qop="auth", algorithm=MD5' },
      { what: 'MD5 without qop', status: 401, field: 'WWW-Authenticate', more: 'algorithm=MD5' },
      { what: 'MD5 of a proxy', status: 407, field: 'Proxy-Authenticate', more: 'qop="auth"' },
      { what: 'SHA-256', status: 401, field: 'WWW-Authenticate', more: 'algorithm=SHA-256, qop="auth"' },
      { what: 'auth-int', status: 401, field: 'WWW-Authenticate', more: 'algorithm=MD5, qop="auth-int"' },
    ])('with $what is answered', async ({ status, field, more }) => {
      const values = { challenge: status, why: [`${field}: ${challenge(more)}`] }
      const callee = await outgoing.target('realm', 'callee-challenges', { values })
      const caller = await outgoing.call('realm', 'call')
      await outgoing.ended(caller, callee)
      const [first = '', second = ''] = callee.sipp.received('INVITE')
      const name = status === 407 ? 'Proxy-Authorization' : 'Authorization'
      expect(headerOf(first, name)).toBeUndefined()
      const answer = headerOf(second, name) ?? ''
      const body = bodyOf(second).trimEnd().replaceAll('\n', '\r\n').concat('\r\n')
      expect(digestFits(answer, { method: 'INVITE', ...account, body })).toBe(true)
      expect(digestParameters(answer).uri).toBe(second.split(' ')[1])
      expect(headerOf(second, 'Call-ID')).toBe(headerOf(first, 'Call-ID'))
      expect(JSON.stringify(gateway().log)).not.toContain(account.password)
    })

    const gateway = () => outgoing.gateway

    it('with several algorithms is answered with the strongest', async () => {
      const why = [
        `WWW-Authenticate: ${challenge('algorithm=MD5, qop="auth"')}`,
        `WWW-Authenticate: ${challenge('algorithm=SHA-256, qop="auth"')}`,
      ]
      const callee = await outgoing.target('realm', 'callee-challenges', { values: { why } })
      const caller = await outgoing.call('realm', 'call')
      await outgoing.ended(caller, callee)
      const answer = headerOf(callee.sipp.received('INVITE')[1] ?? '', 'Authorization') ?? ''
      expect(digestParameters(answer).algorithm).toBe('SHA-256')
      expect(digestFits(answer, { method: 'INVITE', ...account })).toBe(true)
    })

    it('with another realm than the configured one is not answered', async () => {
      const why = [`WWW-Authenticate: ${challenge('algorithm=MD5, qop="auth"', 'bank.test')}`]
      const callee = await outgoing.target('realm', 'callee-declines', { values: { status: 401, why } })
      const caller = await outgoing.call('realm', 'call-refused', { values: { status: 502 } })
      await outgoing.ended(caller, callee)
      expect(callee.sipp.received('INVITE')).toHaveLength(1)
      expect(gateway().log).toContainEqual(
        expect.objectContaining({ msg: 'challenge not answered', why: 'another realm' }),
      )
    })

    it('is not answered if the carrier has no credentials configured', async () => {
      const why = [`WWW-Authenticate: ${challenge('algorithm=MD5')}`]
      const callee = await outgoing.target('plain', 'callee-declines', { values: { status: 401, why } })
      const caller = await outgoing.call('plain', 'call-refused', { values: { status: 502 } })
      await outgoing.ended(caller, callee)
      expect(callee.sipp.received('INVITE')).toHaveLength(1)
    })
  })
})
