import { Call } from './call.ts'
import type { Environment } from './environment.ts'
import { ClientError, endOf } from './errors.ts'
import { type Json, record, text } from './frames.ts'
import { Invite } from './invite.ts'
import type { Log } from './log.ts'
import type { Session } from './session.ts'
import type { CallOptions, DialOptions, IncomingCallHandlers, IncomingInvite } from './types.ts'
import { type CallSignalling, subscriptions } from './verto.ts'

/** The calls and the waiting invites of one client, and the way of messages between them and the session. */
export class Calls implements CallSignalling {
  readonly #calls = new Map<string, Call>()
  readonly #invites = new Map<string, Invite>()
  readonly #session: Session
  readonly #environment: Environment
  readonly #log: Log
  readonly #defaults: CallOptions
  /** Who is told of incoming calls; without handlers they ring on unheard. */
  handlers: IncomingCallHandlers | undefined

  constructor(session: Session, environment: Environment, log: Log, defaults: CallOptions) {
    this.#session = session
    this.#environment = environment
    this.#log = log
    this.#defaults = defaults
  }

  get iceServers(): readonly RTCIceServer[] {
    return this.#session.iceServers
  }

  /** How many calls last, counted with those not started. */
  get size(): number {
    return this.#calls.size
  }

  /** Makes an outgoing call; it is not started. */
  dial({ to, nodeId, ...options }: DialOptions): Call {
    if (!to.trim()) throw new ClientError('bad_argument', 'to: expected an address or a SIP URI, got nothing')
    return this.#add({ id: this.#environment.uuid(), to: to.trim(), nodeId }, options)
  }

  /** Hangs all calls up, and tells the server of each. */
  hangup(): void {
    for (const call of [...this.#calls.values()]) void call.hangup()
    for (const invite of [...this.#invites.values()])
      invite.cancel(new ClientError('disconnected', 'The client was disconnected.'))
  }

  /** Ends everything without a word to the server. */
  drop(reason: ClientError): void {
    for (const call of [...this.#calls.values()]) call.drop(reason)
    for (const invite of [...this.#invites.values()]) invite.cancel(reason)
  }

  /** Takes a server event. */
  event(type: string, params: Json, nodeId: string | undefined): void {
    if (type === 'webrtc.message') {
      this.#message(params, nodeId)
      return
    }
    if (!type.startsWith('call.') && !type.startsWith('member.')) return
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

  gone(id: string): void {
    this.#calls.delete(id)
  }

  #add(call: { id: string; to: string; nodeId?: string; offer?: string }, options: CallOptions): Call {
    const made = new Call({
      ...call,
      options: { ...this.#defaults, ...options },
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
    // Both may be there while an accepted call is being set up.
    if (method === 'verto.bye') {
      const { cause, causeCode } = params
      this.#invites.get(callID)?.cancel(endOf(text(cause), causeCode as string | number | undefined))
    }
    this.#calls.get(callID)?.receive(method, params, nodeId)
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
    const handler = this.handlers?.websocket ?? this.handlers?.all
    if (!handler) {
      this.#log.info('an incoming call, and no handler for it')
      return
    }
    const details = inviteDetails(callID, params, nodeId)
    const invite = new Invite(details, {
      makeCall: ({ sdp }, options) => this.#add({ id: callID, to: 'room', offer: sdp, nodeId }, options),
      decline: async () => {
        const declined = { cause: 'CALL_REJECTED', causeCode: '21', dialogParams: { callID } }
        await this.verto('verto.bye', declined, { id: callID, nodeId })
      },
      gone: (id) => this.#invites.delete(id),
    })
    this.#invites.set(callID, invite)
    try {
      handler({ invite })
    } catch (error) {
      this.#log.error('the handler of an incoming call failed', error)
    }
  }
}

const inviteDetails = (callID: string, params: Json, nodeId: string | undefined): IncomingInvite => ({
  source: 'websocket',
  callID,
  sdp: text(params.sdp) ?? '',
  caller_id_name: text(params.caller_id_name) ?? '',
  caller_id_number: text(params.caller_id_number) ?? '',
  callee_id_name: text(params.callee_id_name) ?? '',
  callee_id_number: text(params.callee_id_number) ?? '',
  display_direction: text(params.display_direction) ?? '',
  nodeId: nodeId ?? '',
})
