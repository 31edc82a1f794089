import { decode } from '../../media/codecs/g711.ts'
import { levelDb } from '../../media/rtp/voice-activity.ts'
import type { AgentLane } from './agent-desk.ts'
import type { RtpPeer } from './rtp-peer.ts'
import type { PlacedCall, SipCaller } from './sip-caller.ts'
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
    for (let at = this.#from; at < packets.length; at++)
      if (levelDb(decode('PCMU', packets[at]!.payload)) > minDb) found.push(at)
    return found
  }

  /** Levels of the packets since the last {@link mark}, in dBov. */
  levels(): readonly number[] {
    return this.peer.packets.slice(this.#from).map(({ payload }) => levelDb(decode('PCMU', payload)))
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

/** Returns the texts of a role in a history. */
export const textsOf = (history: readonly Json[], role: string): readonly string[] =>
  history.filter((each) => each.role === role).map(({ content }) => String(content))
