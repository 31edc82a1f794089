import { decode } from '../../media/codecs/g711.ts'
import { goertzel } from '../../media/codecs/tone.ts'
import { levelDb, minLevelDb } from '../../media/rtp/voice-activity.ts'
import type { AgentLane } from './agent-desk.ts'
import { type Packet, payloadTypes, type RtpPeer } from './rtp-peer.ts'
import type { PlacedCall, SipCaller } from './sip-caller.ts'
import { headerOf } from './sip-text.ts'
import type { SpokenWords } from './spoken-words.ts'
import { until } from './until.ts'

/** Object of JSON. */
export type Json = Readonly<Record<string, unknown>>

/** Report of a conversation, as far as the tests read it. */
export interface AgentReport {
  readonly call_log: readonly Json[]
  readonly raw_call_log: readonly Json[]
  readonly global_data: Json
  readonly call_ended_by: string
}

/** Collaborators of an {@link AgentCall}. */
interface Sides {
  readonly lane: AgentLane
  readonly peer: RtpPeer
  readonly caller: SipCaller
  readonly placed: PlacedCall
  readonly words: SpokenWords
  readonly user: string
}

/** Level from which a packet counts as sound, in dBov. */
const soundDb = -45

/** Call of a test to an agent. */
export class AgentCall {
  readonly #sides: Sides
  /** Number of the first packet that counts. */
  #from = 0
  #isClosed = false

  constructor(sides: Sides) {
    this.#sides = sides
  }

  get peer(): RtpPeer {
    return this.#sides.peer
  }

  /** Numbers of the packets with sound since the last {@link mark}. */
  sounds(minDb = soundDb): readonly number[] {
    const { packets } = this.peer
    const found: number[] = []
    for (let at = this.#from; at < packets.length; at++) if (levelOf(packets[at]!) > minDb) found.push(at)
    return found
  }

  /** Levels of the packets since the last {@link mark}, in dBov. */
  levels(): readonly number[] {
    return this.peer.packets.slice(this.#from).map(levelOf)
  }

  /** Sounds count from now on. */
  mark(): void {
    this.#from = this.peer.packets.length
  }

  /** Waits until the agent has spoken for `ms` since the last {@link mark}. */
  async speaks(what: string, ms = 160): Promise<void> {
    await until(
      what,
      () => this.sounds().length,
      (count) => count * 20 >= ms,
    )
  }

  /** Waits for a silence of `ms`, and marks its end. */
  async isSilent(what: string, ms = 500): Promise<void> {
    const count = ms / 20
    await until(
      what,
      () => this.peer.packets.length - Math.max(this.#from - 1, this.sounds().at(-1) ?? -1),
      (quiet) => quiet > count,
    )
    this.mark()
  }

  /** Waits until the agent has spoken, and is silent again. */
  async hears(what: string): Promise<void> {
    await this.speaks(what)
    await this.isSilent(`the end of ${what}`)
  }

  /** Speaks; the recognisers understand the text. Default: a text that they have not used yet. */
  async says(text?: string): Promise<void> {
    const samples = await this.#sides.words.of(text ?? 'Is there anything?')
    if (text !== undefined) this.#sides.lane.standIns.willHear(text)
    this.peer.say(samples)
  }

  /** Waits until the caller has been silent for half a second. */
  async isQuiet(): Promise<void> {
    await until('the words were sent', () => !this.peer.isSaying)
    const { sent } = this.peer
    await until(
      'the caller is quiet',
      () => this.peer.sent - sent,
      (count) => count > 25,
    )
  }

  /** Makes a short sound that no recogniser understands. */
  coughs(): void {
    this.#sides.lane.standIns.willHear('')
    const noise = Int16Array.from({ length: 160 * 8 }, (_, at) => ((at * 7919 * at) % 16_000) - 8000)
    this.peer.say(noise)
  }

  /** Waits until a recogniser hears the caller. */
  async isHeard(engine: 'vosk' | 'realtime' = 'vosk'): Promise<void> {
    const { log } = this.#sides.lane.standIns
    const type = engine === 'vosk' ? 'audio' : 'input_audio_buffer.append'
    await until(
      'the engine hears the caller',
      () => log.received(type, engine).length,
      (count) => count > 5,
    )
  }

  /** Returns the report, after it has arrived. */
  async report(): Promise<AgentReport> {
    const { lane, user } = this.#sides
    const [first] = await until(
      'the report',
      () => lane.server.asked(`/report/${user}`),
      ({ length }) => length > 0,
    )
    return JSON.parse(first?.body ?? '') as AgentReport
  }

  /** Duration of a tone in the packets since the last {@link mark}, in ms. */
  toneMs(hz: number): number {
    return tonePackets(this.peer, hz, this.#from).length * 20
  }

  /** Waits until a tone was heard for `ms` since the last {@link mark}. */
  async hearsTone(hz: number, ms = 300): Promise<void> {
    await until(
      `the caller hears ${hz} Hz`,
      () => this.toneMs(hz),
      (heard) => heard >= ms,
    )
  }

  /** Waits for a REFER, and reports the success of the transfer. Returns its target. */
  async isReferred(): Promise<string> {
    const { caller } = this.#sides
    const refer = await until('the gateway refers', () =>
      caller.received.find((text) => text.startsWith('REFER ')),
    )
    await caller.accept(refer ?? '')
    caller.send(notifyOf(refer ?? '', caller.address))
    return headerOf(refer ?? '', 'Refer-To') ?? ''
  }

  /** Name of the report. */
  get user(): string {
    return this.#sides.user
  }

  /** Value of Replaces (RFC 3891) for the dialog of the call. */
  get replaces(): string {
    const { response } = this.#sides.placed
    const tag = (name: string) => /tag=([^;]*)$/.exec(headerOf(response, name) ?? '')?.[1]
    return `${this.sipCallId};to-tag=${tag('To')};from-tag=${tag('From')}`
  }

  /** SIP Call-ID of the call. */
  get sipCallId(): string {
    return headerOf(this.#sides.placed.response, 'Call-ID') ?? ''
  }

  /** Waits until the gateway hangs up. */
  async isOver(): Promise<void> {
    const { caller } = this.#sides
    const isBye = (text: string) => text.startsWith('BYE ')
    const bye = await until('the gateway hangs up', () => caller.received.find(isBye))
    await caller.accept(bye ?? '')
    this.close()
  }

  /** Hangs up. Idempotent. */
  async hangUp(): Promise<void> {
    if (this.#isClosed) return
    await this.#sides.placed.hangUp()
    this.close()
  }

  close(): void {
    this.#isClosed = true
    this.peer.close()
    this.#sides.caller.close()
  }

  /** Id of the call at the gateway. */
  get id(): string {
    const { lane, user } = this.#sides
    const bodies = lane.server.asked('/script').map(({ body }) => JSON.parse(body) as { call: Json })
    return String(bodies.find(({ call }) => String(call.to).startsWith(`sip:${user}@`))?.call.call_id)
  }
}

/** Level of a packet in dBov; keys have none. */
const levelOf = ({ payload, payloadType }: Packet): number =>
  payloadType === payloadTypes.PCMU ? levelDb(decode('PCMU', payload)) : minLevelDb

/** Numbers of the packets from one on that hold only a tone. */
export const tonePackets = ({ packets }: RtpPeer, hz: number, from = 0): readonly number[] =>
  packets.flatMap(({ payload }, at) => {
    if (at < from || payload.length !== 160) return []
    const samples = decode('PCMU', payload)
    return levelDb(samples) > soundDb && goertzel(samples, hz) > 0.9 ? [at] : []
  })

/** Report of a REFER's success in its dialog (RFC 3515). */
const notifyOf = (refer: string, address: string): string => {
  const [, contact = ''] = /<([^>]+)>/.exec(headerOf(refer, 'Contact') ?? '') ?? []
  const body = 'SIP/2.0 200 OK\r\n'
  const lines = [
    `NOTIFY ${contact} SIP/2.0`,
    `Via: SIP/2.0/UDP ${address}:9;branch=z9hG4bK${Date.now()};rport`,
    `From: ${headerOf(refer, 'To')}`,
    `To: ${headerOf(refer, 'From')}`,
    `Call-ID: ${headerOf(refer, 'Call-ID')}`,
    'CSeq: 100 NOTIFY',
    'Max-Forwards: 70',
    'Event: refer',
    'Subscription-State: terminated;reason=noresource',
    'Content-Type: message/sipfrag;version=2.0',
    `Content-Length: ${body.length}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Returns the texts of a role in a history. */
export const textsOf = (history: readonly Json[], role: string): readonly string[] =>
  history.filter((each) => each.role === role).map(({ content }) => String(content))
