import { CallControls } from './call-controls.ts'
import type { CallSetup } from './call-setup.ts'
import { type CallState, type CallStep, isAnswered, nextState } from './call-state.ts'
import { CallTransfer } from './call-transfer.ts'
import { ClientError, refusalOf } from './errors.ts'
import { type Json, record, text } from './frames.ts'
import { dialogParams, endOfBye, type VertoPeer } from './verto.ts'

/**
 * Call, outgoing (from {@link Client.dial}) or incoming (from {@link Invite.accept}).
 * It ends exactly once. By then the microphone, camera, connection, players and screens are released.
 */
export class Call extends CallControls implements VertoPeer {
  readonly id: string
  readonly direction: 'inbound' | 'outbound'
  readonly to: string
  readonly #setup: CallSetup
  #state: CallState = 'new'
  #nodeId: string | undefined
  #sent: boolean
  #reason: ClientError | undefined
  #started: PromiseWithResolvers<void> | undefined
  #holds: Promise<void> | undefined
  readonly #transfer = new CallTransfer('transfer')
  readonly #addition = new CallTransfer('add')

  constructor(setup: CallSetup) {
    super(setup)
    this.#setup = setup
    this.id = setup.id
    this.to = setup.to
    this.direction = setup.offer === undefined ? 'outbound' : 'inbound'
    this.#nodeId = setup.nodeId
    this.#sent = setup.reattaching ?? false
  }

  get state(): CallState {
    return this.#state
  }

  /** Reason for which the call ended; undefined until then. */
  get reason(): ClientError | undefined {
    return this.#reason
  }

  /**
   * Places an outgoing call. Resolves when the far side answers.
   * Rejects with the reason if it does not (`busy`, `declined`, `no_answer`, …) or if the call cannot be
   * placed (`microphone_refused`, `unknown_address`, …). Calling it again returns the same promise.
   */
  start(): Promise<void> {
    if (this.direction === 'inbound') return Promise.reject(wrongState('start() is for outgoing calls.'))
    return this.#begin(() => this.#invite())
  }

  /**
   * Answers an incoming call. Resolves when the server has accepted the answer. Calling it again returns the
   * same promise.
   */
  answer(): Promise<void> {
    if (this.direction === 'outbound') return Promise.reject(wrongState('answer() is for incoming calls.'))
    return this.#begin(() => this.#pickUp())
  }

  /**
   * Ends the call, cancels an outgoing one, or declines an incoming one before the answer.
   * Resolves when the server has acknowledged. Idempotent.
   * With the `id` of a screen that the call shares, ends only that screen; rejects with `bad_argument` for
   * any other id.
   */
  async hangup(id: string = this.id): Promise<void> {
    if (id !== this.id) {
      const screen = this.screenShareList.find((other) => other.id === id)
      if (!screen) throw new ClientError('bad_argument', `id: expected ${this.id} or a screen's, got "${id}"`)
      await screen.leave()
      return
    }
    if (this.#state === 'ended') return
    const answered = isAnswered(this.#state)
    const bye = this.direction === 'inbound' && !this.#sent ? this.#decline() : this.#bye()
    this.#end(new ClientError(answered ? 'normal' : 'canceled', 'The call was hung up here.'))
    await bye
  }

  /**
   * Sends DTMF digits: `0`-`9`, `*`, `#` and `A`-`D`. Rejects with `bad_argument`, `bad_state` or the
   * server's error.
   */
  async sendDigits(digits: string): Promise<void> {
    if (!/^[0-9A-Da-d*#]+$/.test(digits))
      throw new ClientError('bad_argument', `digits: expected 0-9 * # A-D, got "${digits}"`)
    this.#require('sendDigits', isAnswered(this.#state) || this.#state === 'early')
    await this.verto('verto.info', { dtmf: digits })
  }

  /** Puts the call on hold until {@link unhold}. Rejects with `bad_state` or the server's error. */
  hold(): Promise<void> {
    return this.#setHold(true)
  }

  /** Resumes a held call. */
  unhold(): Promise<void> {
    return this.#setHold(false)
  }

  /**
   * Transfers the other party, and leaves the call (`reason` is then `transferred`).
   *
   * To an address, a number or a SIP URI (blind): the target is called, and the other party hears it ring.
   * Resolves when the target answers. Rejects with the reason if it does not (`busy`, `declined`, …); the
   * call then continues. If this page hangs up meanwhile, the transfer goes on, and the promise rejects.
   *
   * To another answered call of this client (attended): the other parties of both calls are joined, and both
   * calls end here.
   *
   * Rejects with `not_permitted` if the subscriber may not call the target, and with `bad_state` before the
   * answer or during another transfer.
   */
  async transfer(to: string | Call): Promise<void> {
    this.#require('transfer', isAnswered(this.#state))
    if (typeof to !== 'string') to.#require('transfer', isAnswered(to.#state))
    if (to === this || (typeof to === 'string' && !to.trim()))
      throw new ClientError('bad_argument', 'to: expected an address, a number, a SIP URI or another call')
    const target =
      typeof to === 'string'
        ? { action: 'transfer', destination: to.trim() }
        : { action: 'replace', replaceCallID: to.id }
    await this.#transfer.run(() => this.verto('verto.modify', target))
  }

  /**
   * Calls an address, a number or a SIP URI, and adds the person to the call after the answer. Resolves then.
   * Rejects with the reason if the person does not answer (`busy`, `declined`, …); the call continues as
   * before. All parties hear each other; video stops. A party that hangs up leaves the others connected.
   *
   * Rejects with `not_permitted` if the subscriber may not call the target. Rejects with `bad_state` before
   * the answer, while another person is called, and beyond six added persons.
   */
  async add(to: string): Promise<void> {
    this.#require('add', isAnswered(this.#state))
    if (!to.trim()) throw new ClientError('bad_argument', 'to: expected an address, a number or a SIP URI')
    await this.#addition.run(() => this.verto('verto.modify', { action: 'add', destination: to.trim() }))
  }

  /** For the client only: handles a verto message of the server for this call. */
  receive(method: string, params: Json, nodeId: string | undefined): void {
    if (this.#state === 'ended') return
    if (nodeId && (method === 'verto.media' || method === 'verto.answer')) this.#nodeId = nodeId
    if (method === 'verto.media') void this.#take(text(params.sdp), 'media')
    else if (method === 'verto.answer') void this.#take(text(params.sdp), 'answer')
    else if (method === 'verto.bye') this.#end(endOfBye(params))
    else if (method === 'verto.info') this.#digits(params)
    else if (method === 'verto.renew') this.pathLost()
    else if (method === 'verto.ping') this.#inform(this.verto('verto.pong', params))
    else if (method === 'verto.mediaParams') this.#mediaParams(record(params.mediaParams))
    else if (method === 'verto.display')
      this.emit('display', {
        name: text(params.display_name) ?? '',
        number: text(params.display_number) ?? '',
      })
  }

  /** For the client only: handles a `call.`, `member.`, `layout.` or `ai.` event for this call. */
  notify(type: string, params: Json): void {
    if (this.#state === 'ended') return
    if (type === 'call.state' && params.call_id === this.id && params.call_state === 'ringing')
      this.#step('ring')
    if (type === 'call.transfer' && params.call_id === this.id) {
      const progress = this.#transfer.notify(params)
      if (progress) this.emit('transfer', progress)
    }
    if (type === 'call.add' && params.call_id === this.id) {
      const progress = this.#addition.notify(params)
      if (progress) this.emit('addition', progress)
    }
    this.memberState.notify(type, params)
    this.tracks.notify(type, params)
  }

  /** Whether an event of the server belongs to this call. */
  concerns(params: Json): boolean {
    return this.memberState.concerns(params)
  }

  /** For the client only: ends the call without informing the server, which no longer has it. */
  drop(reason: ClientError): void {
    this.#end(reason, false)
  }

  protected get node(): string | undefined {
    return this.#nodeId
  }

  protected mediaLost(reason: ClientError): void {
    this.#inform(this.#bye())
    this.#end(reason)
  }

  protected verto(method: string, params: Json): Promise<Json> {
    const { options, signalling, reattaching } = this.#setup
    const dialog = {
      callID: this.id,
      // The dialled address is left out: a server without the call must not place it a second time.
      to: reattaching ? 'room' : this.to,
      userVariables: options.userVariables,
      reattaching: reattaching && method === 'verto.invite',
    }
    const message = { dialogParams: dialogParams(dialog), ...params }
    return signalling.verto(method, message, { id: this.id, nodeId: this.#nodeId })
  }

  #begin(run: () => Promise<void>): Promise<void> {
    if (this.#started) return this.#started.promise
    if (!this.#step('start')) return Promise.reject(this.#reason ?? wrongState('The call has begun already.'))
    this.#started = Promise.withResolvers()
    // Prevents an unhandled rejection when the caller of `start` drops the promise.
    this.#started.promise.catch(() => {})
    run().catch((error: unknown) => {
      // A call that the server rejected needs no BYE.
      if (error instanceof ClientError && error.code === 'server') this.#sent = false
      this.#inform(this.#bye())
      this.#end(refusalOf(error))
    })
    return this.#started.promise
  }

  async #invite(): Promise<void> {
    const sdp = await this.media.offer(this.#setup.signalling.iceServers)
    this.#sending()
    const reply = await this.verto('verto.invite', { sdp })
    this.#nodeId ??= text(reply.node_id)
    this.#step('sent')
  }

  async #pickUp(): Promise<void> {
    const sdp = await this.media.answer(this.#setup.offer ?? '', this.#setup.signalling.iceServers)
    this.#sending()
    await this.verto('verto.answer', { sdp })
    if (this.#state !== 'ended') this.#step('answer')
  }

  // The call may have ended while its media was set up. The server must then not receive the call.
  #sending(): void {
    if (this.#state === 'ended') throw this.#reason ?? wrongState('The call has ended.')
    this.#sent = true
  }

  async #take(sdp: string | undefined, step: 'media' | 'answer'): Promise<void> {
    try {
      if (sdp !== undefined) await this.media.accept(sdp)
      const { devicesAfterAnswer } = this.#setup.options
      if (this.#step(step) && step === 'answer' && devicesAfterAnswer) void this.#openDevices()
    } catch (cause) {
      if (this.#state === 'ended') return
      this.mediaLost(
        new ClientError('media_lost', "The server's session description cannot be used.", { cause }),
      )
    }
  }

  async #openDevices(): Promise<void> {
    try {
      await this.openDevices()
    } catch (error) {
      if (this.#state !== 'ended') this.mediaLost(refusalOf(error))
    }
  }

  #digits(params: Json): void {
    const digits = text(params.dtmf)
    if (digits) this.emit('dtmf', { digits })
  }

  #mediaParams(params: Json): void {
    for (const channel of ['audio', 'video'] as const)
      if (params[channel] !== undefined) this.constrain(channel, record(params[channel]))
  }

  // Hold requests run one after another, so that the last request decides the state.
  #setHold(on: boolean): Promise<void> {
    const run = () => this.#modifyHold(on)
    const done = (this.#holds ? this.#holds.then(run) : run()).finally(() => {
      if (this.#holds === settled) this.#holds = undefined
    })
    const settled = done.catch(() => {})
    this.#holds = settled
    return done
  }

  async #modifyHold(on: boolean): Promise<void> {
    if (this.#state === (on ? 'held' : 'active')) return
    this.#require(on ? 'hold' : 'unhold', isAnswered(this.#state))
    if (on) this.setHolding(true)
    try {
      await this.verto('verto.modify', { action: on ? 'hold' : 'unhold' })
    } catch (error) {
      this.setHolding(this.#state === 'held')
      throw error
    }
    this.setHolding(on)
    this.#step(on ? 'hold' : 'unhold')
  }

  // Sends a BYE, unless the server never received the call.
  async #bye(): Promise<void> {
    if (!this.#sent) return
    this.#sent = false
    await this.verto('verto.bye', {}).catch((error: unknown) => this.#setup.log.debug('bye failed', error))
  }

  // Rejects a call that rings at the server although this page sent nothing.
  async #decline(): Promise<void> {
    const declined = { cause: 'CALL_REJECTED', causeCode: '21' }
    await this.verto('verto.bye', declined).catch((error: unknown) =>
      this.#setup.log.debug('decline failed', error),
    )
  }

  #inform(sent: Promise<unknown>): void {
    sent.catch((error: unknown) => this.#setup.log.debug('message rejected', error))
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
    this.emit('state', { state, previous })
    // The media path may have failed before the answer.
    if (step === 'answer') this.pathChanged()
    return true
  }

  #end(reason: ClientError, known = true): void {
    if (this.#state === 'ended') return
    this.#sent = false
    const isTransferred = this.#transfer.isCompleted
    this.#reason = isTransferred ? new ClientError('transferred', 'The call was transferred.') : reason
    this.#transfer.ended(reason)
    this.#addition.ended(reason)
    this.release(known, this.#reason)
    this.leaveRoom(this.#reason.code)
    this.#setup.signalling.gone(this.id)
    // Settled before the listeners run, since a listener may look at the effects of the promise.
    if (!isAnswered(this.#state)) this.#started?.reject(this.#reason)
    this.#step('end')
    this.emit('destroy', { reason: this.#reason })
    this.silence()
  }
}

const wrongState = (message: string): ClientError => new ClientError('bad_state', message)
