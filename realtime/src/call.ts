import type { Action, ActionCall, Watcher } from './actions.ts'
import { type Agent, type AgentDocument, type AgentEvent, readAgentEvent, startAgent } from './agents.ts'
import { type DevicePlan, devicesToWire, type PhoneDevice, type SipDevice } from './devices.ts'
import { notAnswered, RealtimeError } from './errors.ts'
import * as operations from './operations.ts'
import { type Sound, soundsToWire } from './sounds.ts'
import { textOf, type Values, valuesOf } from './wire.ts'

/** State of a call. */
export type CallState = 'created' | 'ringing' | 'answered' | 'ending' | 'ended'

/** Reason of a hang-up; reasons other than `hangup` are for calls before the answer. */
export type HangupReason = 'hangup' | 'cancel' | 'busy' | 'noAnswer' | 'decline' | 'error'

/** Part of the client that calls use. */
export interface CallClient {
  request(method: string, params: Values): Promise<Values>
  /** Returns the call with the id of a peer: an existing object, or a new one. */
  callOf(params: Values): Call
}

type Text = Omit<Extract<Sound, { type: 'tts' }>, 'type'>
type Audio = Omit<Extract<Sound, { type: 'audio' }>, 'type'>
type Ringtone = Omit<Extract<Sound, { type: 'ringtone' }>, 'type'>
type Prompting = operations.CollectOptions & operations.PlayOptions

/**
 * Call. Its promises reject with a {@link RealtimeError}; with the code `lost` if the connection is lost, and
 * the call with it.
 */
export class Call implements ActionCall {
  readonly id: string
  readonly direction: 'inbound' | 'outbound'
  /** Kind of the far side. */
  readonly type: 'sip' | 'phone' | 'webrtc'
  /** SIP URI, number or address of the caller (`from`) and the callee (`to`). */
  readonly from: string
  readonly to: string
  /** Application headers (`X-…`) of the far side's INVITE. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** Variables of the browser that dialled a `webrtc` call; empty for other calls. */
  readonly userVariables: Readonly<Record<string, unknown>>
  /** Topic (context) of an incoming call; empty for other calls. */
  readonly context: string
  readonly #client: CallClient
  readonly #nodeId: string
  readonly #watchers = new Map<string, Watcher>()
  readonly #listeners = new Set<(state: CallState) => void>()
  readonly #agentListeners = new Set<(event: AgentEvent) => void>()
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

  /** Call that this one is connected to. */
  get peer(): Call | undefined {
    return this.#peer
  }

  /** Calls `listener` on every new state until the returned function is called. */
  onState(listener: (state: CallState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves with true once the call is in the state, or false if it ended before. */
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

  /** Ends the call; resolves when it has ended. */
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

  /** Passes a call that is not answered on to another listening client. */
  async pass(): Promise<void> {
    await this.ask('calling.pass')
  }

  /** Plays sounds one after another. Resolves when they have ended. */
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

  /** Records the call. Resolves with the URL of the recording when it has ended. */
  record(options: operations.RecordOptions = {}): operations.Recording {
    return operations.record(this, options)
  }

  /** Plays sounds and collects digits or speech, which end the playback. */
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

  /** Hands the call to a voice agent. Resolves when the conversation has ended. */
  ai(document: AgentDocument): Agent {
    return startAgent(this, 'calling.ai', document)
  }

  /** Hands the call to a voice agent as {@link ai} does, by the document of `amazon_bedrock`. */
  amazonBedrock(document: AgentDocument): Agent {
    return startAgent(this, 'calling.amazon_bedrock', document)
  }

  /**
   * Calls `listener` on every event of a voice agent, until the returned function is called. An agent behind
   * the address that was dialled has events, too.
   */
  onAgentEvent(listener: (event: AgentEvent) => void): () => void {
    this.#agentListeners.add(listener)
    return () => void this.#agentListeners.delete(listener)
  }

  /** Sends DTMF: `0-9 * # A-D`; `w` waits 0.5 s, `W` 1 s. */
  sendDigits(digits: string): Promise<void> {
    return operations.sendDigits(this, digits)
  }

  /** Puts the call on hold: it hears music until {@link unhold}. */
  async hold(): Promise<void> {
    await this.ask('calling.hold')
  }

  async unhold(): Promise<void> {
    await this.ask('calling.unhold')
  }

  /** Sends an event to the browser of the call. */
  async userEvent(event: Values): Promise<void> {
    await this.ask('calling.user_event', { event })
  }

  /**
   * Dials devices and connects the first that answers with this call; resolves with its call.
   * Rejects with the reason (`busy`, `noAnswer`, …) if none answers.
   */
  async connect(devices: DevicePlan, options: { readonly ringback?: readonly Sound[] } = {}): Promise<Call> {
    const tag = crypto.randomUUID()
    const { promise, resolve, reject } = Promise.withResolvers<Call>()
    const event = (_type: string, params: Values) => {
      if (params.connect_state === 'connected') resolve(this.#joined(params))
      if (params.connect_state === 'disconnected') this.#parted(tag)
      if (params.connect_state !== 'failed') return
      this.#parted(tag)
      reject(notAnswered(params, 'failed_reason', 'No device was connected.'))
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

  /** Disconnects the connected calls; resolves when they are. */
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

  /** For the client: handles an event of this call, its type without `calling.call.`. */
  event(type: string, params: Values): void {
    if (type === 'state') this.#become(textOf(params, 'call_state') as CallState)
    else this.#watchers.get(textOf(params, type === 'connect' ? 'tag' : 'control_id'))?.event(type, params)
    // A listener that throws must not keep the event from the operation.
    if (type === 'ai') this.#agentReports(params)
  }

  /** For the client: ends the call after the connection was lost. */
  lost(error: RealtimeError): void {
    this.#settle(error)
    this.#become('ended')
  }

  #agentReports(params: Values): void {
    const event = readAgentEvent(params)
    if (event) for (const listener of [...this.#agentListeners]) listener(event)
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
    // The gateway reports the end of all actions before the call's end. Actions without a report end here.
    if (state === 'ended') this.#settle(new RealtimeError('lost', 'The call is over.'))
    for (const listener of [...this.#listeners]) listener(state)
  }
}
