/** Far ends whose Contact and Record-Route lead to a carrier that knows the gateway by its address. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { embedded } from '../support/agents.ts'
import { application, scripted } from '../support/applications.ts'
import { Gateway } from '../support/gateway.ts'
import { offer, SipSocket, statusOf, type WrittenRequest } from '../support/sip-socket.ts'
import { headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

const carrierAddress = '127.0.0.21'
const strangerAddress = '127.0.0.9'

let gateway: Gateway
let carrierPort: number
let calleePort: number
/** Socket of the carrier: any request that it receives would be at the project's expense. */
let carrier: SipSocket

beforeAll(async () => {
  carrierPort = await freePort()
  calleePort = await freePort()
  const refers = scripted(
    { answer: {} },
    { sip_refer: { to_uri: 'sip:desk@elsewhere.test' } },
    { hangup: {} },
  )
  const dials = scripted({
    connect: { to: `sip:desk@${strangerAddress}:${calleePort}`, timeout: 3, answer_on_bridge: true },
  })
  gateway = await Gateway.start({
    agent: embedded,
    carriers: [{ name: 'acme', targets: [`sip:${carrierAddress}:${carrierPort}`] }],
    projects: [{ id: 'other', apiToken: 'token-of-the-other-project' }],
    domains: [
      { domain: 'open.test', handler: refers },
      { domain: 'late.test', handler: scripted({ answer: {} }, { sleep: 500 }, { hangup: {} }) },
      { ...application('dials.test', dials), project: 'other' },
    ],
  })
})

beforeEach(async () => {
  carrier = await SipSocket.udp(gateway.sipPort, carrierAddress, carrierPort)
})

afterAll(() => gateway?.stop())

const contact = () => `sip:+882131234567@${carrierAddress}:${carrierPort}`
const routes = () => [`Record-Route: <sip:${carrierAddress}:${carrierPort};lr>`]

let count = 0
const invite = (domain: string, headers: readonly string[]): WrittenRequest & { readonly callId: string } => {
  const { body, headers: type } = offer()
  const callId = `route-${++count}`
  return {
    method: 'INVITE',
    uri: `sip:1@${domain}`,
    contact: contact(),
    body,
    callId,
    fromTag: callId,
    headers: [...type, ...headers],
  }
}

/** Places a call from an untrusted source, and acknowledges its answer. */
const answered = async (stranger: SipSocket, request: ReturnType<typeof invite>): Promise<void> => {
  const ok = await stranger.ask(request)
  expect(statusOf(ok)).toBe(200)
  const toTag = /;tag=(\S+)/.exec(headerOf(ok, 'To') ?? '')?.[1]
  const { uri, callId, fromTag } = request
  stranger.raw(stranger.text({ method: 'ACK', uri, callId, fromTag, toTag }))
}

/** Returns the requests of one method that a socket has received. */
const arrived = (socket: SipSocket, method: string): readonly string[] =>
  socket.answers.filter((each) => each.startsWith(`${method} `))

/** Returns a response to a request, with these further header lines. */
const responseTo = (
  request: string,
  status: number,
  tag: string,
  lines: readonly string[],
  body = '',
): string => {
  const copied = ['Via', 'From', 'Call-ID', 'CSeq'].map((name) => `${name}: ${headerOf(request, name)}`)
  const to = `To: ${headerOf(request, 'To')}${tag && !/;tag=/.test(headerOf(request, 'To') ?? '') ? `;tag=${tag}` : ''}`
  const all = [`SIP/2.0 ${status} S`, ...copied, to, ...lines, `Content-Length: ${body.length}`]
  return `${all.join('\r\n')}\r\n\r\n${body}`
}

describe('a call from an untrusted source', () => {
  it('without a From tag is rejected', async () => {
    const stranger = await SipSocket.udp(gateway.sipPort, strangerAddress)
    const text = stranger.text(invite('open.test', routes())).replace(/^(From: [^;\r]*);tag=[^\r]*/m, '$1')
    expect(statusOf(await stranger.askText(text))).toBe(400)
    expect(carrier.answers).toEqual([])
  })

  it('gets REFER and BYE at its own address, even if its Contact and Record-Route name a carrier', async () => {
    const stranger = await SipSocket.udp(gateway.sipPort, strangerAddress)
    await answered(stranger, invite('open.test', routes()))
    for (const method of ['REFER', 'BYE']) {
      const [request = ''] = await until(
        `the ${method}`,
        () => arrived(stranger, method),
        (found) => found.length > 0,
      )
      stranger.raw(responseTo(request, method === 'REFER' ? 603 : 200, '', []))
    }
    await gateway.settled()
    expect(carrier.answers).toEqual([])
  })

  it('gets no further requests at any address after it has closed its connection', async () => {
    const stranger = await SipSocket.stream(gateway.sipPort, 'TCP')
    await answered(stranger, invite('late.test', []))
    stranger.close()
    await gateway.settled()
    expect(carrier.answers).toEqual([])
  })
})

describe('an untrusted callee of another project', () => {
  /** Answers the next INVITE with this tag. `status` resolves with the response that the caller gets. */
  const dialled = async (
    tag: string,
  ): Promise<{ callee: SipSocket; caller: SipSocket; status: Promise<string> }> => {
    const callee = await SipSocket.udp(gateway.sipPort, strangerAddress, calleePort)
    const caller = await SipSocket.udp(gateway.sipPort)
    const status = caller.ask(invite('dials.test', []))
    const [request = ''] = await until(
      'the INVITE',
      () => arrived(callee, 'INVITE'),
      (found) => found.length > 0,
    )
    const { body = '', headers } = offer()
    const lines = [`Contact: <${contact()}>`, ...routes(), ...headers]
    callee.raw(responseTo(request, 200, tag, lines, body))
    return { callee, caller, status }
  }

  it('gets ACK and BYE at its own address, even if its Contact and Record-Route name a carrier', async () => {
    const { callee, caller } = await dialled('t')
    for (const method of ['ACK', 'BYE']) {
      await until(
        `the ${method}`,
        () => {
          const [ok] = caller.answers.filter(
            (each) => each.startsWith('SIP/2.0 200') && /CSeq: 1 INVITE/.test(each),
          )
          if (ok && method === 'BYE') hangUp(caller, ok)
          return arrived(callee, method)
        },
        (found) => found.length > 0,
      )
    }
    callee.raw(responseTo(arrived(callee, 'BYE')[0] ?? '', 200, '', []))
    await gateway.settled()
    expect(carrier.answers).toEqual([])
  })

  it('that answers without a To tag gets no call and no further requests', async () => {
    const { callee, status } = await dialled('')
    expect(statusOf(await status)).toBeGreaterThanOrEqual(400)
    await gateway.settled()
    expect([...arrived(callee, 'ACK'), ...arrived(callee, 'BYE')]).toEqual([])
    expect(carrier.answers).toEqual([])
  })

  let hungUp = false
  const hangUp = (caller: SipSocket, ok: string): void => {
    if (hungUp) return
    hungUp = true
    const tag = (name: string) => /;tag=(\S+)/.exec(headerOf(ok, name) ?? '')?.[1] ?? ''
    const call = { callId: headerOf(ok, 'Call-ID') ?? '', fromTag: tag('From'), toTag: tag('To') }
    caller.raw(caller.text({ method: 'ACK', uri: 'sip:1@dials.test', ...call }))
    caller.raw(caller.text({ method: 'BYE', uri: 'sip:1@dials.test', cseq: '2', ...call }))
  }
})
