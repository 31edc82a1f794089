import { Call } from './call.ts'
import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import { type Json, record, text } from './frames.ts'
import { Invite } from './invite.ts'
import type { LastCall } from './last-call.ts'
import type { Log } from './log.ts'
import type { Session } from './session.ts'
import type { CallOptions, DialOptions, IncomingCallHandlers, IncomingInvite } from './types.ts'
import { type CallSignalling, endOfBye, subscriptions, type VertoPeer } from './verto.ts'

/** Maximum ring time of an incoming call, in milliseconds: the longest that a gateway lets a call ring. */
const maxRingMs = 600_000

/** Returns the reason of a call that the server has lost. */
export const callLost = (): ClientError =>
  new ClientError('session_lost', 'The connection was restored, but the server had already ended the call.')

/** Calls and pending invites of a client. Routes messages between them and the session. */
export class Calls implements CallSignalling {
  readonly #calls = new Map<string, Call>()
  /** Shared screens of the calls. */
  readonly #screens = new Map<string, VertoPeer>()
  readonly #invites = new Map<string, Invite>()
  readonly #session: Session
  readonly #environment: Environment
  readonly #log: Log
  readonly #defaults: CallOptions
  readonly #last: LastCall
  /** Handlers of incoming calls. Without handlers incoming calls ring unnoticed. */
  handlers: IncomingCallHandlers | undefined

  /** `last` stores the call that must survive a reload of the page. */
  constructor(session: Session, environment: Environment, log: Log, defaults: CallOptions, last: LastCall) {
    this.#session = session
    this.#environment = environment
    this.#log = log
    this.#defaults = defaults
    this.#last = last
  }

  get iceServers(): readonly RTCIceServer[] {
    return this.#session.iceServers
  }

  get isConnected(): boolean {
    return this.#session.state === 'connected'
  }

  /** Number of calls, including those not started. */
  get size(): number {
    return this.#calls.size
  }

  /** Creates an outgoing call without starting it. */
  dial({ to, nodeId, ...options }: DialOptions): Call {
    if (!to.trim()) throw new ClientError('bad_argument', 'to: expected an address or a SIP URI, got nothing')
    return this.#add({ id: this.#environment.uuid(), to: to.trim(), nodeId }, options)
  }

  /** Creates the call that an earlier page of the tab left, without starting it. */
  reattach({ id, to }: { readonly id: string; readonly to: string }, options: CallOptions): Call {
    return this.#calls.get(id) ?? this.#add({ id, to, reattaching: true }, options)
  }

  /** Hangs up all calls at the server. Pending invites continue to ring on other devices. */
  hangup(): void {
    const reason = new ClientError('disconnected', 'The client was disconnected.')
    for (const invite of [...this.#invites.values()]) invite.cancel(reason)
    for (const call of [...this.#calls.values()])
      if (call.state === 'new' && call.direction === 'inbound') call.drop(reason)
      else void call.hangup()
  }

  /** Ends all calls and invites without informing the server. */
  drop(reason: ClientError): void {
    for (const invite of [...this.#invites.values()]) invite.cancel(reason)
    for (const call of [...this.#calls.values()]) call.drop(reason)
  }

  /**
   * Ends the calls and invites that the server does not have any more, after a reconnection. A server without
   * the request `subscriber.calls` reports the ends of calls only by events.
   */
  async reconcile(): Promise<void> {
    // Calls that are being sent to the server meanwhile are left out.
    const sent = [...this.#calls.values()].filter(({ state }) => state !== 'new' && state !== 'setup')
    const ids = new Set([...this.#invites.keys(), ...sent.map(({ id }) => id)])
    if (ids.size === 0) return
    const { calls } = await this.#session.request('subscriber.calls', {})
    if (!Array.isArray(calls)) return
    for (const id of calls) ids.delete(id)
    for (const id of ids) {
      const lost = callLost()
      this.#invites.get(id)?.cancel(lost)
      this.#calls.get(id)?.drop(lost)
      this.#last.forget(id)
    }
  }

  /** Handles the return (`up`) or loss of the connection to the server. */
  connectionChanged(up: boolean): void {
    for (const peer of [...this.#calls.values(), ...this.#screens.values()]) peer.connectionChanged(up)
  }

  /** Handles a change of network. */
  networkChanged(): void {
    for (const peer of [...this.#calls.values(), ...this.#screens.values()]) peer.networkChanged()
  }

  /** Handles a server event. */
  event(type: string, params: Json, nodeId: string | undefined): void {
    if (type === 'webrtc.message') {
      this.#message(params, nodeId)
      return
    }
    if (!/^(call|member|layout|ai)\./.test(type)) return
    for (const call of [...this.#calls.values()]) if (call.concerns(params)) call.notify(type, params)
  }

  verto(
    method: string,
    params: Json,
    call: { readonly id: string; readonly nodeId?: string },
  ): Promise<Json> {
    const message = { jsonrpc: '2.0', id: this.#environment.uuid(), method, params }
    const opens = method === 'verto.invite' || method === 'verto.answer'
    return this.#session.request('webrtc.verto', {
      message,
      callID: call.id,
      ...(call.nodeId && { node_id: call.nodeId }),
      ...(opens && { subscribe: subscriptions }),
    })
  }

  request(method: string, params: Json): Promise<Json> {
    return this.#session.request(method, params)
  }

  changed({ id, to, state }: Pick<Call, 'id' | 'to' | 'state'>): void {
    const invite = this.#invites.get(id)
    // Decided through the call of a push notification, not through the invite.
    if (invite?.isPending) invite.settle()
    const { protocol } = this.#session
    if (state === 'active' && protocol !== undefined) this.#last.keep({ id, to, protocol })
  }

  add(screen: VertoPeer): void {
    this.#screens.set(screen.id, screen)
  }

  gone(id: string): void {
    if (this.#screens.delete(id)) return
    this.#calls.delete(id)
    this.#last.forget(id)
  }

  /**
   * Handles the event of a push notification: creates the call, not started, and calls the handlers.
   * The call may have ended meanwhile. Throws `bad_argument`.
   */
  async pushed(event: Json): Promise<Call> {
    const params = record(record(event.params).params)
    const callID = text(params.callID)
    const sdp = text(params.sdp)
    const nodeId = text(event.node_id)
    if (!callID || sdp === undefined)
      throw new ClientError('bad_argument', 'decrypted: expected the event of an invite, with callID and sdp')
    // A repeated notification, or the connection delivered the invite first.
    const existing = this.#calls.get(callID)
    if (existing) return existing
    const known = this.#invites.get(callID)
    const invite = known ?? this.#invitation('pushNotification', callID, params, nodeId)
    const call = this.#add({ id: callID, to: 'room', offer: sdp, nodeId }, {})
    const attach = { sessid: callID, eventChannel: [] }
    await this.verto('verto.subscribe', attach, { id: callID, nodeId }).catch((error: unknown) =>
      this.#log.debug('server did not attach the page to the call', error),
    )
    if (!known && invite.isPending) this.#tell(this.handlers?.pushNotification, invite)
    return call
  }

  #add(
    call: { id: string; to: string; nodeId?: string; offer?: string; reattaching?: boolean },
    options: CallOptions,
  ): Call {
    const all = { ...this.#defaults, ...options }
    // The sizes of a camera are negotiated with the first offer, which has no camera then.
    if (call.offer === undefined && all.devicesAfterAnswer && all.tracks !== undefined)
      throw new ClientError('bad_argument', 'devicesAfterAnswer: not with tracks')
    const made = new Call({
      ...call,
      options: all,
      signalling: this,
      environment: this.#environment,
      log: this.#log,
    })
    this.#calls.set(made.id, made)
    return made
  }

  #message(message: Json, nodeId: string | undefined): void {
    const method = text(message.method)
    const params = record(message.params)
    const callID = text(params.callID)
    if (!method || !callID) {
      this.#log.debug('ignored a verto message without method or callID')
      return
    }
    if (message.id !== undefined) this.#confirm(message.id, method, nodeId)
    if (method === 'verto.invite') {
      this.#invited(callID, params, nodeId)
      return
    }
    // Call and invite both exist while an accepted call is being set up.
    if (method === 'verto.bye') {
      // Also for a call that was not reattached yet.
      this.#last.forget(callID)
      this.#invites.get(callID)?.cancel(endOfBye(params))
    }
    const peer: VertoPeer | undefined = this.#calls.get(callID) ?? this.#screens.get(callID)
    peer?.receive(method, params, nodeId)
  }

  #confirm(id: unknown, method: string, nodeId: string | undefined): void {
    const message = { jsonrpc: '2.0', id, result: { method } }
    this.#session
      .request('webrtc.verto', { message, ...(nodeId && { node_id: nodeId }) })
      .catch((error: unknown) => this.#log.debug(`${method} was not confirmed`, error))
  }

  #invited(callID: string, params: Json, nodeId: string | undefined): void {
    // A server may repeat an invite after a reconnect.
    if (this.#invites.has(callID) || this.#calls.has(callID)) return
    if (this.handlers?.websocket ?? this.handlers?.all)
      this.#tell(this.handlers?.websocket, this.#invitation('websocket', callID, params, nodeId))
    else this.#log.info('incoming call ignored: no handler is set')
  }

  #invitation(
    source: IncomingInvite['source'],
    callID: string,
    params: Json,
    nodeId: string | undefined,
  ): Invite {
    const details = inviteDetails(source, callID, params, nodeId)
    const limit = this.#environment.clock.after(maxRingMs, () => {
      if (invite.isPending) invite.cancel(new ClientError('no_answer', 'The call was not answered in time.'))
    })
    const invite: Invite = new Invite(details, {
      makeCall: ({ sdp }, options) => {
        this.#replace(callID)
        return this.#add({ id: callID, to: 'room', offer: sdp, nodeId }, options)
      },
      decline: async () => {
        this.#replace(callID)
        const declined = { cause: 'CALL_REJECTED', causeCode: '21', dialogParams: { callID } }
        await this.verto('verto.bye', declined, { id: callID, nodeId })
      },
      gone: (id) => {
        limit.cancel()
        this.#invites.delete(id)
      },
    })
    this.#invites.set(callID, invite)
    return invite
  }

  // Drops the call that a push notification created, because its invite was decided instead.
  #replace(callID: string): void {
    this.#calls.get(callID)?.drop(new ClientError('answered_elsewhere', 'Decided through its invite.'))
  }

  #tell(own: IncomingCallHandlers['all'], invite: Invite): void {
    const handler = own ?? this.handlers?.all
    try {
      handler?.({ invite })
    } catch (error) {
      this.#log.error('the handler of an incoming call failed', error)
    }
  }
}

const inviteDetails = (
  source: IncomingInvite['source'],
  callID: string,
  params: Json,
  nodeId: string | undefined,
): IncomingInvite => ({
  source,
  callID,
  sdp: text(params.sdp) ?? '',
  caller_id_name: text(params.caller_id_name) ?? '',
  caller_id_number: text(params.caller_id_number) ?? '',
  callee_id_name: text(params.callee_id_name) ?? '',
  callee_id_number: text(params.callee_id_number) ?? '',
  display_direction: text(params.display_direction) ?? '',
  nodeId: nodeId ?? '',
  userVariables: record(params.userVariables),
})
