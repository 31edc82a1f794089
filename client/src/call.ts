import type { CallEvents } from './call-events.ts'
import { type CallState, type CallStep, isAnswered, nextState } from './call-state.ts'
import type { CallCommands, CallMediaControls } from './call-surface.ts'
import { Emitter } from './emitter.ts'
import type { Environment } from './environment.ts'
import { ClientError, endOf, refusalOf } from './errors.ts'
import { type Json, record, text } from './frames.ts'
import type { Log } from './log.ts'
import { CallMedia } from './media.ts'
import { type CallMember, membersOf } from './members.ts'
import type { CallOptions } from './types.ts'
import { type CallSignalling, dialogParams } from './verto.ts'

/** What a {@link Call} is made of. */
export interface CallSetup {
  readonly id: string
  /** The number or address dialled; for an incoming call the literal `room`. */
  readonly to: string
  /** The far side's offer, for an incoming call. */
  readonly offer?: string
  /** The server has the call already: an earlier page of the tab made it. */
  readonly reattaching?: boolean
  readonly nodeId?: string
  readonly options: CallOptions
  readonly signalling: CallSignalling
  readonly environment: Environment
  readonly log: Log
}

type Channel = 'audio' | 'video'

/** The rest of the surface. */
export interface Call extends CallCommands, CallMediaControls {}

/**
 * One call, outgoing (from {@link Client.dial}) or incoming (from {@link Invite.accept}). It ends exactly once, and then has released the
 * microphone, the connection and the players.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the rest of the surface follows.
export class Call {
  readonly id: string
  readonly direction: 'inbound' | 'outbound'
  readonly to: string
  readonly #setup: CallSetup
  readonly #media: CallMedia
  readonly #events: Emitter<CallEvents>
  #state: CallState = 'new'
  #nodeId: string | undefined
  #sent: boolean
  #reason: ClientError | undefined
  #self: CallMember | undefined
  #target: CallMember | undefined
  #muted: Record<Channel, boolean> = { audio: false, video: false }
  #holding = false
  #restarting = false
  #started: PromiseWithResolvers<void> | undefined

  constructor(setup: CallSetup) {
    this.#setup = setup
    this.id = setup.id
    this.to = setup.to
    this.direction = setup.offer === undefined ? 'outbound' : 'inbound'
    this.#nodeId = setup.nodeId
    this.#sent = setup.reattaching ?? false
    this.#events = new Emitter((error) => setup.log.error('a listener of a call failed', error))
    this.#media = new CallMedia(setup.environment, setup.log, setup.options, {
      remoteTrack: (track) => this.#events.emit('track', { track, stream: this.#media.remote }),
      failed: () => void this.#restart(),
    })
  }

  get state(): CallState {
    return this.#state
  }

  /** True between answer and end. */
  get active(): boolean {
    return isAnswered(this.#state)
  }

  /** Why the call ended; undefined until then. */
  get reason(): ClientError | undefined {
    return this.#reason
  }

  /** The microphone and camera; undefined until they are open. */
  get localStream(): MediaStream | undefined {
    return this.#media.local
  }

  /** What the far side sends; empty until its first track. */
  get remoteStream(): MediaStream {
    return this.#media.remote
  }

  /** Whether audio or video is muted by {@link mute} or by the server. */
  get muted(): Readonly<Record<Channel, boolean>> {
    return this.#muted
  }

  on<Name extends keyof CallEvents>(name: Name, listener: (payload: CallEvents[Name]) => void): void {
    this.#events.on(name, listener)
  }

  off<Name extends keyof CallEvents>(name: Name, listener?: (payload: CallEvents[Name]) => void): void {
    this.#events.off(name, listener)
  }

  /**
   * Places an outgoing call. Resolves when the far side answers; rejects with the reason for which it did not (`busy`, `declined`,
   * `no_answer`, …) or could not be placed (`microphone_refused`, `unknown_address`, …). Calling it again gives the same promise.
   */
  start(): Promise<void> {
    if (this.direction === 'inbound') return Promise.reject(wrongState('start() is for outgoing calls.'))
    return this.#begin(() => this.#invite())
  }

  /** Answers an incoming call. Resolves when the server has taken the answer. Calling it again gives the same promise. */
  answer(): Promise<void> {
    if (this.direction === 'outbound') return Promise.reject(wrongState('answer() is for incoming calls.'))
    return this.#begin(() => this.#pickUp())
  }

  /**
   * Ends the call, gives up an outgoing one, or declines an incoming one that was not answered. Resolves when the server has been told.
   * Idempotent. A call has one peer connection, whose id is the call's; rejects with `bad_argument` for any other `id`.
   */
  async hangup(id: string = this.id): Promise<void> {
    if (id !== this.id)
      throw new ClientError('bad_argument', `id: expected ${this.id} or nothing, got "${id}"`)
    if (this.#state === 'ended') return
    const answered = isAnswered(this.#state)
    const bye = this.direction === 'inbound' && !this.#sent ? this.#decline() : this.#bye()
    this.#end(new ClientError(answered ? 'normal' : 'canceled', 'The call was hung up here.'))
    await bye
  }

  /** Sends keys: `0`-`9`, `*`, `#` and `A`-`D`. Rejects with `bad_argument`, `bad_state` or the server's error. */
  async sendDigits(digits: string): Promise<void> {
    if (!/^[0-9A-Da-d*#]+$/.test(digits))
      throw new ClientError('bad_argument', `digits: expected 0-9 * # A-D, got "${digits}"`)
    this.#require('sendDigits', isAnswered(this.#state) || this.#state === 'early')
    await this.#verto('verto.info', { dtmf: digits })
  }

  /** Stops the microphone (or camera) of this call at once, and tells the server. */
  mute(channel: Channel = 'audio'): Promise<void> {
    return this.#setMuted(channel, true)
  }

  /** Undoes {@link mute}. */
  unmute(channel: Channel = 'audio'): Promise<void> {
    return this.#setMuted(channel, false)
  }

  /** As `mute('audio')`. */
  audioMute(): Promise<void> {
    return this.mute('audio')
  }

  /** As `unmute('audio')`. */
  audioUnmute(): Promise<void> {
    return this.unmute('audio')
  }

  /** Puts the call on hold: nothing is sent to the far side until {@link unhold}. Rejects with `bad_state` or the server's error. */
  hold(): Promise<void> {
    return this.#setHold(true)
  }

  /** Takes the call back from hold. */
  unhold(): Promise<void> {
    return this.#setHold(false)
  }

  /** For the client alone: a verto message of the server for this call. */
  receive(method: string, params: Json, nodeId: string | undefined): void {
    if (this.#state === 'ended') return
    if (nodeId && (method === 'verto.media' || method === 'verto.answer')) this.#nodeId = nodeId
    if (method === 'verto.media') void this.#take(text(params.sdp), 'media')
    else if (method === 'verto.answer') void this.#take(text(params.sdp), 'answer')
    else if (method === 'verto.bye') this.#end(endOf(text(params.cause), code(params.causeCode)))
    else if (method === 'verto.info') this.#digits(params)
    else if (method === 'verto.ping') this.#inform(this.#verto('verto.pong', params))
    else if (method === 'verto.display')
      this.#events.emit('display', {
        name: text(params.display_name) ?? '',
        number: text(params.display_number) ?? '',
      })
  }

  /** For the client alone: a `call.` or `member.` event of the server that names this call. */
  notify(type: string, params: Json): void {
    if (this.#state === 'ended') return
    if (type === 'call.state' && params.call_state === 'ringing') this.#step('ring')
    if (type === 'call.joined') this.#joined(params)
    if (type === 'member.updated') this.#memberUpdated(record(params.member))
  }

  /** True when an event of the server is about this call. */
  concerns(params: Json): boolean {
    if (params.call_id === this.id || params.origin_call_id === this.id) return true
    const member = record(params.member).member_id
    return member !== undefined && member === this.#self?.member_id
  }

  /** For the client alone: ends the call without telling the server, which knows nothing of it any more. */
  drop(reason: ClientError): void {
    this.#end(reason)
  }

  #begin(run: () => Promise<void>): Promise<void> {
    if (this.#started) return this.#started.promise
    if (!this.#step('start')) return Promise.reject(this.#reason ?? wrongState('The call has begun already.'))
    this.#started = Promise.withResolvers()
    // The promise is handed out below; a caller that drops it must not raise an unhandled rejection on every ended call.
    this.#started.promise.catch(() => {})
    run().catch((error: unknown) => {
      // What the server refused it does not know, and needs no farewell for.
      if (error instanceof ClientError && error.code === 'server') this.#sent = false
      this.#inform(this.#bye())
      this.#end(refusalOf(error))
    })
    return this.#started.promise
  }

  async #invite(): Promise<void> {
    await this.#media.open()
    const sdp = await this.#media.offer(this.#setup.signalling.iceServers)
    this.#sending()
    const reply = await this.#verto('verto.invite', { sdp })
    this.#nodeId ??= text(reply.node_id)
    this.#step('sent')
  }

  async #pickUp(): Promise<void> {
    await this.#media.open()
    const sdp = await this.#media.answer(this.#setup.offer ?? '', this.#setup.signalling.iceServers)
    this.#sending()
    await this.#verto('verto.answer', { sdp })
    if (this.#state !== 'ended') this.#step('answer')
  }

  // The call may have ended since its media was ready: what is sent now nobody would take back.
  #sending(): void {
    if (this.#state === 'ended') throw this.#reason ?? wrongState('The call has ended.')
    this.#sent = true
  }

  async #take(sdp: string | undefined, step: 'media' | 'answer'): Promise<void> {
    try {
      if (sdp !== undefined) await this.#media.accept(sdp)
      this.#step(step)
    } catch (cause) {
      if (this.#state === 'ended') return
      this.#inform(this.#bye())
      this.#end(new ClientError('media_lost', "The server's session description cannot be used.", { cause }))
    }
  }

  #digits(params: Json): void {
    const digits = text(params.dtmf)
    if (digits) this.#events.emit('dtmf', { digits })
  }

  #joined(params: Json): void {
    const { self, target } = membersOf(params, this.id)
    this.#self ??= self
    this.#target = target ?? this.#self
  }

  #memberUpdated(member: Json): void {
    const updated = Array.isArray(member.updated) ? member.updated : []
    for (const channel of ['audio', 'video'] as const) {
      const muted = member[`${channel}_muted`]
      if (updated.includes(`${channel}_muted`) && typeof muted === 'boolean') this.#applyMute(channel, muted)
    }
  }

  #applyMute(channel: Channel, muted: boolean): void {
    const changed = this.#muted[channel] !== muted
    this.#muted = { ...this.#muted, [channel]: muted }
    this.#applySending()
    if (changed) this.#events.emit('mute', { ...this.#muted })
  }

  #applySending(): void {
    for (const channel of ['audio', 'video'] as const)
      this.#media.send(channel, !this.#muted[channel] && !this.#holding)
  }

  async #setMuted(channel: Channel, muted: boolean): Promise<void> {
    this.#require(muted ? 'mute' : 'unmute', this.#state !== 'ended')
    // First here, where it takes effect whatever the server says.
    this.#applyMute(channel, muted)
    if (!this.#self) return
    const params = { channels: [channel], self: this.#self, target: this.#target ?? this.#self }
    await this.#setup.signalling.request(muted ? 'call.mute' : 'call.unmute', params)
  }

  async #setHold(on: boolean): Promise<void> {
    if (this.#state === (on ? 'held' : 'active')) return
    this.#require(on ? 'hold' : 'unhold', isAnswered(this.#state))
    if (on) this.#setSilent(true)
    try {
      await this.#verto('verto.modify', { action: on ? 'hold' : 'unhold' })
    } catch (error) {
      this.#setSilent(this.#state === 'held')
      throw error
    }
    this.#setSilent(on)
    this.#step(on ? 'hold' : 'unhold')
  }

  #setSilent(silent: boolean): void {
    this.#holding = silent
    this.#applySending()
  }

  async #restart(): Promise<void> {
    if (this.#restarting || !isAnswered(this.#state)) return
    this.#restarting = true
    this.#setup.log.warn('the audio path broke; making a new one')
    try {
      const sdp = await this.#media.restart()
      const reply = await this.#verto('verto.modify', { sdp, action: 'updateMedia' })
      await this.#media.accept(text(reply.sdp) ?? '')
    } catch (cause) {
      if (isAnswered(this.#state)) this.#inform(this.#bye())
      this.#end(new ClientError('media_lost', 'The audio path broke and could not be restored.', { cause }))
    } finally {
      this.#restarting = false
    }
  }

  #verto(method: string, params: Json): Promise<Json> {
    const { options, signalling, reattaching } = this.#setup
    // No server is to place the call a second time, should it be over.
    const to = reattaching ? 'room' : this.to
    const dialog = dialogParams(this.id, to, options.userVariables, reattaching && method === 'verto.invite')
    return signalling.verto(
      method,
      { dialogParams: dialog, ...params },
      { id: this.id, nodeId: this.#nodeId },
    )
  }

  // Tells the server that the call is over. One that the server never heard of needs no farewell.
  async #bye(): Promise<void> {
    if (!this.#sent) return
    this.#sent = false
    await this.#verto('verto.bye', {}).catch((error: unknown) => this.#setup.log.debug('bye failed', error))
  }

  // It rings at the server although nothing was sent from here.
  async #decline(): Promise<void> {
    const declined = { cause: 'CALL_REJECTED', causeCode: '21' }
    await this.#verto('verto.bye', declined).catch((error: unknown) =>
      this.#setup.log.debug('the call was not declined', error),
    )
  }

  #inform(sent: Promise<unknown>): void {
    sent.catch((error: unknown) => this.#setup.log.debug('a message was not taken', error))
  }

  #require(what: string, fits: boolean): void {
    if (!fits) throw wrongState(`${what}: not possible while the call is ${this.#state}.`)
  }

  #step(step: CallStep): boolean {
    const previous = this.#state
    const state = nextState(previous, step)
    if (state === undefined) return false
    this.#state = state
    if (state === 'active') this.#started?.resolve()
    this.#setup.signalling.changed(this)
    this.#events.emit('state', { state, previous })
    return true
  }

  #end(reason: ClientError): void {
    if (this.#state === 'ended') return
    this.#sent = false
    this.#reason = reason
    this.#media.close()
    this.#setup.signalling.gone(this.id)
    // Settled before the listeners run: a listener may look at what the promise led to.
    if (!isAnswered(this.#state)) this.#started?.reject(reason)
    this.#step('end')
    this.#events.emit('destroy', { reason })
    this.#events.clear()
  }
}

const wrongState = (message: string): ClientError => new ClientError('bad_state', message)

const code = (value: unknown): string | undefined =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : undefined
