import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { type SipAgent, startSipAgent } from '@trunkline/sip-agent'
import { formatHost } from '@trunkline/sip-agent/message'
import { isG711 } from '../../../media/rtp/packet-duration.ts'
import type { Clock } from '../../core/clock.ts'
import { parseSipUri } from '../../core/sip-uri.ts'
import { AgentLink } from '../../sip/agent-link.ts'
import { readSdp } from '../../sip/sdp/read-sdp.ts'
import type { SipRequest, SipResponse } from '../../sip/srf.ts'
import type { FarAudio } from './call-line.ts'
import { CallRefused, OutgoingCall } from './outgoing-call.ts'

/** Payload type of telephone events in the offer. */
const eventType = 101

/** Agent that a caller calls. */
export interface Callee {
  /** SIP URI of the request line. */
  readonly uri: string
  /** SIP URI that the INVITE is sent to; default the one of the request line. */
  readonly nextHop?: string
}

/** Caller of a call: the user part of its address, and the local port of its audio. */
export interface CallFrom {
  readonly from: string
  readonly mediaPort: number
}

/** Answered call. */
export interface AnsweredCall {
  readonly audio: FarAudio
  /** Settles when either side hangs up. */
  readonly ended: Promise<void>
  /** Hangs up. Resolves at the response, or when none can come; at most 3 s later. Idempotent. */
  hangUp(): Promise<void>
}

/** SIP side of all callers of a test: one SIP agent of the product, on ports of its own. */
export class CallerPhones {
  readonly #agent: SipAgent
  readonly #link: AgentLink
  readonly #clock: Clock
  readonly #calls = new Set<OutgoingCall>()
  #isEnding = false
  /** Local address that reaches the far side. */
  readonly address: string

  private constructor(agent: SipAgent, link: AgentLink, address: string, clock: Clock) {
    this.#clock = clock
    this.#agent = agent
    this.#link = link
    this.address = address
  }

  /** Opens the ports on the interface that reaches an agent. Rejects if its host is unknown. */
  static async open({ uri, nextHop = uri }: Callee, clock: Clock): Promise<CallerPhones> {
    const address = await localAddress(nextHop)
    const listen = (['udp', 'tcp'] as const).map((transport) => ({ transport, address, port: 0 }))
    const agent = await startSipAgent({ listen, userAgent: 'trunkline agent-test' })
    const silent = { info: () => {}, warn: () => {}, error: () => {} }
    const { host, port, secret } = agent
    const link = new AgentLink({
      agent: { host, port, secret, isEmbedded: true },
      clock,
      log: silent,
    })
    try {
      await link.connect()
    } catch (error) {
      await agent.close()
      throw error
    }
    return new CallerPhones(agent, link, address, clock)
  }

  /** Calls a SIP URI. Resolves with the answered call. Rejects with {@link CallRefused}. */
  async call({ uri, nextHop }: Callee, { from, mediaPort }: CallFrom): Promise<AnsweredCall> {
    if (this.#isEnding) throw new CallRefused('was not made, as the test ends')
    const localSdp = offerOf(this.address, mediaPort)
    const call = new OutgoingCall(this.#clock)
    this.#calls.add(call)
    void call.gone.then(() => this.#calls.delete(call))
    const headers = { From: `<sip:${from}@${formatHost(this.address)}>` }
    const options = { localSdp, headers, ...(nextHop !== undefined && { proxy: nextHop }) }
    const dialog = await call.invite(this.#link.srf, uri, options)
    for (const method of ['modify', 'update'] as const)
      dialog.on(method, (request, response) => answerChange(request, response, localSdp))
    for (const method of ['info', 'options', 'message', 'notify'] as const)
      dialog.on(method, (_request, response) => response.send(200))
    dialog.on('refer', (_request, response) => response.send(603))
    try {
      return { audio: audioOf(dialog.remote.sdp ?? ''), ended: call.ended, hangUp: () => call.end() }
    } catch (error) {
      await call.end()
      throw error
    }
  }

  /** Ends all calls, and permits no others. Resolves when the far sides know it, at most 3 s later. */
  async endCalls(): Promise<void> {
    this.#isEnding = true
    await Promise.all([...this.#calls].map((call) => call.end()))
  }

  /** Ends all calls, and closes the ports. */
  async close(): Promise<void> {
    await this.endCalls()
    this.#link.close()
    await this.#agent.close()
  }
}

/** Accepts a change of the session without a change of the caller's own side. */
const answerChange = (request: SipRequest, response: SipResponse, body: string): void => {
  const hasOffer = request.body !== undefined && request.body !== ''
  if (request.method === 'UPDATE' && !hasOffer) response.send(200)
  else response.send(200, { body, headers: { 'Content-Type': 'application/sdp' } })
}

const offerOf = (address: string, port: number): string => {
  const net = `IN IP${isIP(address)} ${address}`
  return [
    'v=0',
    `o=- 1 1 ${net}`,
    's=-',
    `c=${net}`,
    't=0 0',
    `m=audio ${port} RTP/AVP 0 8 ${eventType}`,
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:8 PCMA/8000',
    `a=rtpmap:${eventType} telephone-event/8000`,
    `a=fmtp:${eventType} 0-15`,
    'a=ptime:20',
    '',
  ].join('\r\n')
}

/** Returns the audio of an answer. Throws {@link CallRefused} without a usable codec. */
const audioOf = (sdp: string): FarAudio => {
  const [audio] = readSdp(sdp).audios
  const law = audio.codecs.map(({ codec }) => codec).find(isG711)
  if (!law || audio.address === undefined || audio.port === 0)
    throw new CallRefused('was answered without PCMU or PCMA')
  const events = audio.telephoneEvents.some(({ payloadType }) => payloadType === eventType)
  return { host: audio.address, port: audio.port, law, ...(events && { eventType }) }
}

/** Returns the address of the local interface that reaches the host of a SIP URI. */
const localAddress = async (uri: string): Promise<string> => {
  const { host = '', port } = parseSipUri(uri) ?? {}
  const name = host.replace(/^\[|\]$/g, '')
  const socket = createSocket(isIP(name) === 6 ? 'udp6' : 'udp4')
  try {
    socket.connect(port ?? 5060, name)
    await once(socket, 'connect')
    return socket.address().address
  } finally {
    socket.close()
  }
}
