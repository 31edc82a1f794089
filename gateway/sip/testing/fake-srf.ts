import { EventEmitter } from 'node:events'
import type {
  FarResponse,
  Headers,
  OfferedAnswer,
  Refusal,
  SentRequest,
  SipDialog,
  SipRequest,
  SipResponse,
  SrfLike,
  UacOptions,
} from '../srf.ts'

/** Request in the form of drachtio-srf; the test emits `cancel`. */
export class FakeRequest extends EventEmitter implements SipRequest {
  readonly method: string
  readonly uri: string
  readonly body: string
  readonly protocol = 'udp'
  readonly source_address: string = '192.0.2.9'
  readonly source_port = 5060
  readonly msg: { headers: Headers }
  canceled = 0

  constructor(method: string, uri: string, body = '', headers: Headers = {}) {
    super()
    this.method = method
    this.uri = uri
    this.body = body
    const usual = {
      from: '<sip:a@b.example>;tag=1',
      to: '<sip:c@d.example>',
      contact: '<sip:a@b.example>',
      'call-id': 'x',
    }
    this.msg = {
      headers: { ...usual, ...(body !== '' && { 'content-type': 'application/sdp' }), ...headers },
    }
  }

  get(name: string): string | undefined {
    const value = this.msg.headers[name.toLowerCase()]
    return value === '' ? undefined : value
  }

  cancel(_options: { headers?: Headers }, callback: (error: unknown) => void): void {
    this.canceled++
    callback(null)
  }
}

/** Response that records its sent messages. */
export class FakeResponse implements SipResponse {
  readonly sent: { status: number; headers: Headers; body?: string }[] = []
  finalResponseSent = false

  get statuses(): number[] {
    return this.sent.map(({ status }) => status)
  }

  /** Listener of PRACKs for each reliable response. */
  readonly pracks: ((prack: SipRequest) => void)[] = []

  send(
    status: number,
    options: { headers?: Headers; body?: string } = {},
    _callback?: (error: unknown) => void,
    onPrack?: (prack: SipRequest) => void,
  ): void {
    this.sent.push({ status, headers: {}, ...options })
    if (onPrack) this.pracks.push(onPrack)
    if (status >= 200) this.finalResponseSent = true
  }
}

/** Dialog whose far side the test controls. */
export class FakeDialog extends EventEmitter implements SipDialog {
  readonly id = 'dialog'
  sip = { callId: 'call@peer', localTag: 'ours', remoteTag: 'theirs' }
  readonly local = { sdp: '', contact: '<sip:127.0.0.1:5060>' }
  readonly remote: { sdp?: string }
  /** Sent BYEs; calling one answers it. */
  readonly byes: ((error?: unknown) => void)[] = []

  constructor(sdp?: string) {
    super()
    this.remote = { sdp }
  }

  /** Headers of each sent BYE. */
  readonly byeHeaders: Headers[] = []

  destroy({ headers = {} }: { headers?: Headers }, callback: (error: unknown) => void): void {
    this.byeHeaders.push(headers)
    this.byes.push((error) => callback(error ?? null))
  }

  /** Other sent requests, with the function that answers each. */
  readonly requests: SentInDialog[] = []

  request(
    options: { method: string; headers?: Headers; body?: string },
    callback: (error: unknown, response?: FarResponse) => void,
  ): void {
    const { method, headers = {}, body } = options
    this.requests.push({
      method,
      headers,
      body,
      reply: (status, reply = {}) =>
        callback(null, {
          ...farResponse(status, reply.body, reply.headers),
          req: { uri: 'sip:far@192.0.2.9' },
        }),
      fail: (error) => callback(error),
    })
  }

  /** Sends a request of the far side inside the dialog, and returns the response. */
  receive(request: FakeRequest): FakeResponse {
    const response = new FakeResponse()
    this.emit(request.method === 'INVITE' ? 'modify' : request.method.toLowerCase(), request, response)
    return response
  }
}

/** A sent request inside a dialog. */
export interface SentInDialog {
  readonly method: string
  readonly headers: Headers
  readonly body: string | undefined
  reply(status: number, reply?: { body?: string; headers?: Headers }): void
  fail(error: unknown): void
}

/** A sent INVITE. */
export interface FakeUac {
  readonly uri: string
  readonly options: UacOptions
  readonly progress: Parameters<SrfLike['createUAC']>[2]
  readonly settle: (error: Refusal | null, answer?: SipDialog | OfferedAnswer) => void
}

/** A sent request outside calls. */
export class FakeSent implements SentRequest {
  readonly uri: string
  readonly options: { readonly method: string; readonly headers: Headers; readonly proxy?: string }
  #listener: (response: FarResponse) => void = () => {}

  constructor(uri: string, options: FakeSent['options']) {
    this.uri = uri
    this.options = options
  }

  get(name: string): string | undefined {
    const { headers } = this.options
    return Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
  }

  on(_event: 'response', listener: (response: FarResponse) => void): void {
    this.#listener = listener
  }

  /** The far side answers. */
  reply(status: number, headers: Headers = {}): void {
    this.#listener(farResponse(status, undefined, headers))
  }

  /** Simulates the agent's failure for an unreachable target. */
  unreachable(problem: string): void {
    const response = farResponse(503, undefined, { Warning: `399 localhost "${problem}"` })
    this.#listener({ ...response, source_address: '' })
  }
}

/** Fake of drachtio-srf whose callbacks the test calls. */
export class FakeSrf implements SrfLike {
  readonly events = new EventEmitter()
  readonly handlers = new Map<string, (request: SipRequest, response: SipResponse) => void>()
  readonly answers: {
    localSdp: string | undefined
    headers: Headers
    done: (error: unknown, dialog?: SipDialog) => void
  }[] = []
  readonly invites: FakeUac[] = []
  /** Sent requests outside calls. */
  readonly requests: FakeSent[] = []
  readonly wire = { closing: false, reconnectVars: { retryTimer: null } }
  readonly app = { client: { wp: this.wire } }
  connects: { host: string; port: number; enablePing?: boolean }[] = []
  disconnected = 0
  /** Thrown by createUAC and createUAS, as drachtio-srf does without a connection. */
  broken: Error | undefined
  /** Whether a connection is accepted at once. */
  accepts = true

  connect(options: { host: string; port: number; secret: string; enablePing?: boolean }): void {
    const { secret: _secret, ...rest } = options
    this.connects.push(rest)
    if (this.accepts) this.events.emit('connect', null, 'udp/127.0.0.1:5060,tcp/127.0.0.1:5060', 'v1')
  }

  disconnect(): void {
    this.disconnected++
  }

  on(event: string, listener: (...args: never[]) => void): void {
    this.events.on(event, listener as (...args: unknown[]) => void)
  }

  use(...args: unknown[]): void {
    const [method, handler] = args.length === 1 ? ['*', args[0]] : args
    this.handlers.set(method as string, handler as (request: SipRequest, response: SipResponse) => void)
  }

  createUAS(
    _request: SipRequest,
    response: SipResponse,
    options: { localSdp?: string; headers: Headers },
    callback: (error: unknown, dialog?: SipDialog) => void,
  ): void {
    if (this.broken) throw this.broken
    response.send(200)
    this.answers.push({ localSdp: options.localSdp, headers: options.headers, done: callback })
  }

  createUAC(
    uri: string,
    options: UacOptions,
    progress: FakeUac['progress'],
    settle: FakeUac['settle'],
  ): void {
    if (this.broken) throw this.broken
    this.invites.push({ uri, options, progress, settle })
  }

  request(
    uri: string,
    options: { method: string; headers: Headers; proxy?: string },
    callback: (error: unknown, request?: SentRequest) => void,
  ): void {
    if (this.broken) throw this.broken
    const sent = new FakeSent(uri, options)
    this.requests.push(sent)
    callback(null, sent)
  }

  /** Delivers an INVITE. */
  invite(request: FakeRequest): FakeResponse {
    const response = new FakeResponse()
    this.handlers.get('invite')?.(request, response)
    return response
  }
}

/** A response of a far side. */
export const farResponse = (status: number, body?: string, headers: Headers = {}): FarResponse => ({
  status,
  reason: 'Reason',
  body,
  source_address: '192.0.2.9',
  source_port: 5060,
  msg: { headers },
  get: (name) => Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1],
})

/** Returns the error of a rejected INVITE in the form of drachtio-srf. */
export const refusalOf = (status: number, headers: Headers = {}): Refusal => ({
  status,
  reason: 'Reason',
  message: `Sip non-success response: ${status}`,
  res: farResponse(status, undefined, headers),
})
