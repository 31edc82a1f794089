import type { Action, ActionCall, Watcher } from './actions.ts'
import { type DevicePlan, devicesToWire, type PhoneDevice, type SipDevice } from './devices.ts'
import { RealtimeError } from './errors.ts'
import * as operations from './operations.ts'
import { type Sound, soundsToWire } from './sounds.ts'
import { textOf, type Values, valuesOf } from './wire.ts'

/** Where a call stands. */
export type CallState = 'created' | 'ringing' | 'answered' | 'ending' | 'ended'

/** Why to hang up; other reasons than `hangup` are for a call that was not answered. */
export type HangupReason = 'hangup' | 'cancel' | 'busy' | 'noAnswer' | 'decline' | 'error'

/** What a call needs of its client. */
export interface CallClient {
  request(method: string, params: Values): Promise<Values>
  /** The call of a peer, by its id: the one that is known, or a new one. */
  callOf(params: Values): Call
}

type Text = Omit<Extract<Sound, { type: 'tts' }>, 'type'>
type Audio = Omit<Extract<Sound, { type: 'audio' }>, 'type'>
type Ringtone = Omit<Extract<Sound, { type: 'ringtone' }>, 'type'>
type Prompting = operations.CollectOptions & operations.PlayOptions

/** A call. Its promises reject with a {@link RealtimeError}; with the code `lost` when the connection, and the call with it, is lost. */
export class Call implements ActionCall {
  readonly id: string
  readonly direction: 'inbound' | 'outbound'
  /** How its far side is reached. */
  readonly type: 'sip' | 'phone' | 'webrtc'
  /** SIP URI, number or address of the caller, and of who is called. */
  readonly from: string
  readonly to: string
  /** Application headers (`X-…`) of the far side's INVITE. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** Variables that the page of a `webrtc` call dialled with; empty for others. */
  readonly userVariables: Readonly<Record<string, unknown>>
  /** The topic (context) that it came in on; empty for others. */
  readonly context: string
  readonly #client: CallClient
  readonly #nodeId: string
  readonly #watchers = new Map<string, Watcher>()
  readonly #listeners = new Set<(state: CallState) => void>()
  #state: CallState = 'created'
  #peer: Call | undefined

  constructor(client: CallClient, params: Values) {
    const device = valuesOf(params.device)
    const about = valuesOf(device.params)
    this.#client = client
    this.#nodeId = textOf(params, 'node_id')
    this.id = textOf(params, 'call_id')
    this.direction = params.direction === 'outbound' ? 'outbound' : 'inbound'
    this.type = device.type === 'phone' || device.type === 'webrtc' ? device.type : 'sip'
    this.from = textOf(about, 'from') || textOf(about, 'from_number')
    this.to = textOf(about, 'to') || textOf(about, 'to_number')
    this.headers = Array.isArray(about.headers) ? about.headers : []
    this.userVariables = valuesOf(about.userVariables)
    this.context = textOf(params, 'context')
  }

  get state(): CallState {
    return this.#state
  }

  /** Who it is connected to. */
  get peer(): Call | undefined {
    return this.#peer
  }

  /** Tells of every new state, until the function that comes back is called. */
  onState(listener: (state: CallState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** True as soon as it is in the state, or false when it ended without. */
  waitFor(state: CallState): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const look = (now: CallState) => {
      if (now === state) resolve(true)
      else if (now === 'ended') resolve(false)
    }
    const stop = this.onState(look)
    look(this.#state)
    return promise.finally(stop)
  }

  async answer(): Promise<this> {
    await this.ask('calling.answer')
    if (!(await this.waitFor('answered'))) throw new RealtimeError('lost', 'The call ended before an answer.')
    return this
  }

  /** Ends it; resolves when it is over. */
  async hangup(reason: HangupReason = 'hangup'): Promise<void> {
    if (this.#state === 'ended') return
    try {
      await this.ask('calling.end', { reason })
    } catch (error) {
      if (error instanceof RealtimeError && error.code === '404') return
      throw error
    }
    await this.waitFor('ended')
  }

  /** Leaves a call that was not answered to another client that listens. */
  async pass(): Promise<void> {
    await this.ask('calling.pass')
  }

  /** Plays sounds, one after the other. Resolves when they are over. */
  play(sounds: readonly Sound[], options: operations.PlayOptions = {}): operations.Playback {
    return operations.play(this, sounds, options)
  }

  playTTS({ volume, ...text }: Text & operations.PlayOptions): operations.Playback {
    return this.play([{ type: 'tts', ...text }], { volume })
  }

  playAudio({ volume, ...audio }: Audio & operations.PlayOptions): operations.Playback {
    return this.play([{ type: 'audio', ...audio }], { volume })
  }

  playSilence({ duration }: { readonly duration: number }): operations.Playback {
    return this.play([{ type: 'silence', duration }])
  }

  playRingtone({ volume, ...tone }: Ringtone & operations.PlayOptions): operations.Playback {
    return this.play([{ type: 'ringtone', ...tone }], { volume })
  }

  /** Resolves when it is over, with where it can be fetched. */
  record(options: operations.RecordOptions = {}): operations.Recording {
    return operations.record(this, options)
  }

  /** Plays, and collects keys or speech, which end the playing. */
  prompt(sounds: readonly Sound[], options: Prompting): operations.Prompt {
    return operations.prompt(this, sounds, options)
  }

  promptTTS({ text, voice, language, ...options }: Text & Prompting): operations.Prompt {
    return this.prompt([{ type: 'tts', text, voice, language }], options)
  }

  promptAudio({ url, ...options }: Audio & Prompting): operations.Prompt {
    return this.prompt([{ type: 'audio', url }], options)
  }

  collect(options: operations.CollectOptions): operations.Collection {
    return operations.collect(this, options)
  }

  detect(options: operations.DetectOptions): Action<operations.Detected> {
    return operations.detect(this, options)
  }

  tap(options: operations.TapOptions): Action<void> {
    return operations.tap(this, options)
  }

  /** `0-9 * # A-D`; `w` waits half a second, `W` a second. */
  sendDigits(digits: string): Promise<void> {
    return operations.sendDigits(this, digits)
  }

  /** The caller hears music until {@link unhold}. */
  async hold(): Promise<void> {
    await this.ask('calling.hold')
  }

  async unhold(): Promise<void> {
    await this.ask('calling.unhold')
  }

  /** Tells a browser on the call. */
  async userEvent(event: Values): Promise<void> {
    await this.ask('calling.user_event', { event })
  }

  /**
   * Calls others and joins the first who answers with the caller; resolves with that call. Rejects with the reason (`busy`, `noAnswer`, …) when
   * nobody does.
   */
  async connect(devices: DevicePlan, options: { readonly ringback?: readonly Sound[] } = {}): Promise<Call> {
    const tag = crypto.randomUUID()
    const { promise, resolve, reject } = Promise.withResolvers<Call>()
    const event = (_type: string, params: Values) => {
      if (params.connect_state === 'connected') resolve(this.#joined(params))
      if (params.connect_state === 'disconnected') this.#parted(tag)
      if (params.connect_state !== 'failed') return
      this.#parted(tag)
      reject(new RealtimeError(textOf(params, 'failed_reason'), 'Nobody could be connected.'))
    }
    this.watch(tag, { event, lost: reject })
    const ringback = options.ringback && { ringback: soundsToWire(options.ringback) }
    this.ask('calling.connect', { tag, devices: devicesToWire(devices), ...ringback }).catch((error) => {
      this.forget(tag)
      reject(error)
    })
    return promise
  }

  connectSip(device: SipDevice): Promise<Call> {
    return this.connect([[{ type: 'sip', ...device }]])
  }

  connectPhone(device: PhoneDevice): Promise<Call> {
    return this.connect([[{ type: 'phone', ...device }]])
  }

  /** Parts the two that are connected; resolves once they are. */
  async disconnect(): Promise<void> {
    const { peer } = this
    await this.ask('calling.disconnect')
    await peer?.waitFor('ended')
  }

  ask(method: string, params: Values = {}): Promise<Values> {
    return this.#client.request(method, { node_id: this.#nodeId, call_id: this.id, ...params })
  }

  watch(controlId: string, watcher: Watcher): void {
    this.#watchers.set(controlId, watcher)
  }

  forget(controlId: string): void {
    this.#watchers.delete(controlId)
  }

  /** An event about this call, its type without `calling.call.`. For the client. */
  event(type: string, params: Values): void {
    if (type === 'state') this.#become(textOf(params, 'call_state') as CallState)
    else this.#watchers.get(textOf(params, type === 'connect' ? 'tag' : 'control_id'))?.event(type, params)
  }

  /** Nothing more will be heard of it. For the client. */
  lost(error: RealtimeError): void {
    this.#settle(error)
    this.#become('ended')
  }

  #joined(params: Values): Call {
    const peer = this.#client.callOf({ direction: 'outbound', ...valuesOf(params.peer) })
    this.#peer = peer
    peer.#peer = this
    return peer
  }

  #parted(tag: string): void {
    this.forget(tag)
    if (this.#peer) this.#peer.#peer = undefined
    this.#peer = undefined
  }

  #settle(error: RealtimeError): void {
    for (const watcher of [...this.#watchers.values()]) watcher.lost(error)
    this.#watchers.clear()
  }

  #become(state: CallState): void {
    if (this.#state === 'ended' || this.#state === state) return
    this.#state = state
    // The gateway tells the end of everything before; what it could not tell ends here.
    if (state === 'ended') this.#settle(new RealtimeError('lost', 'The call is over.'))
    for (const listener of [...this.#listeners]) listener(state)
  }
}
