import Srf from 'drachtio-srf'

/** Header fields by name; a repeated field is one value, joined with commas. */
export type Headers = Record<string, string>

/** A request of the far side, or one of ours that was sent. What the gateway uses of drachtio-srf's class. */
export interface SipRequest {
  readonly method: string
  readonly uri: string
  readonly body?: string
  readonly protocol: string
  readonly source_address: string
  readonly source_port: number
  /** Set on requests inside a dialog. */
  readonly stackDialogId?: string
  readonly msg: { readonly headers: Readonly<Headers> }
  get(name: string): string | undefined
  /** `cancel`: the far side gave up its INVITE; the agent has sent the 487 already. */
  on(event: 'cancel', listener: (cancel?: Pick<SipRequest, 'get'>) => void): unknown
  /** UPDATE of the far side before the INVITE has its final response; the listener answers it, at once. */
  on(event: 'update', listener: (request: SipRequest, response: SipResponse) => void): unknown
  /** A response to one of ours, with what acknowledges it. */
  on(event: 'response', listener: (response: FarResponse, acknowledge: Acknowledge) => void): unknown
  /** Our response to it, where it is one of the far side's. */
  readonly res?: SipResponse
  /** Cancels an INVITE of ours. Throws where the connection is gone. */
  cancel(options: { headers?: Headers }, callback: (error: unknown) => void): void
}

/** Our response to a {@link SipRequest}. */
export interface SipResponse {
  readonly finalResponseSent: boolean
  /**
   * Throws for a status that it does not know. The callback is told what the agent made of it; `onPrack` has
   * to answer the PRACK of a response that requires `100rel`, at once, by its `res`.
   */
  send(
    status: number,
    options?: { headers?: Headers; body?: string },
    callback?: (error: unknown) => void,
    onPrack?: (prack: SipRequest) => void,
  ): void
}

/** A response of the far side to an INVITE of ours. */
export interface FarResponse {
  readonly status: number
  readonly reason: string
  readonly body?: string
  /** Empty for a response that the agent made itself. */
  readonly source_address: string
  readonly source_port?: number
  readonly msg?: { readonly headers: Readonly<Headers> }
  /** Ours that it answers, as it was sent. */
  readonly req?: { readonly uri: string }
  get(name: string): string | undefined
  /** Whether a header is there: what drachtio-srf asks before it sends the PRACK of a reliable response. */
  has?(name: string): boolean
}

/** Sends the ACK of a final response, or the PRACK of a reliable provisional one. */
export type Acknowledge = (options?: { body?: string; headers?: Headers }) => void

/** A 200 with an offer to an INVITE of ours that had none. It has no ACK yet. */
export interface OfferedAnswer {
  readonly res: FarResponse
  /** Sends the ACK, with our answer. Rejects where no dialog can be made. */
  ack(localSdp: string | undefined): Promise<SipDialog>
}

/** The error that drachtio-srf gives for a refusal; other errors have none of the fields. */
export interface Refusal {
  readonly status?: number
  readonly reason?: string
  readonly res?: FarResponse
  readonly message?: string
}

/** Requests inside a dialog that are handed to a listener, which has to answer them. */
export type InDialogMethod =
  | 'modify'
  | 'info'
  | 'options'
  | 'update'
  | 'refer'
  | 'message'
  | 'notify'
  | 'publish'

/** An established INVITE dialog. */
export interface SipDialog {
  readonly id: string
  /** What names it. */
  readonly sip?: { readonly callId: string; readonly localTag: string; readonly remoteTag: string }
  /** The 200 that made it, where the INVITE was ours. */
  readonly res?: FarResponse
  readonly local: { sdp: string; readonly contact: string }
  readonly remote: { readonly sdp?: string; readonly uri?: string }
  /** Sends BYE; the callback comes with its final response, or never when the connection is lost. */
  destroy(options: { headers?: Headers }, callback: (error: unknown) => void): void
  request(
    options: { method: string; headers?: Headers; body?: string },
    callback: (error: unknown, response?: FarResponse) => void,
  ): void
  /** BYE of the far side, or of the agent itself; `reason` then says why. */
  on(event: 'destroy', listener: (request: SipRequest, reason?: string) => void): unknown
  on(event: 'ack', listener: (request: SipRequest) => void): unknown
  on(event: InDialogMethod, listener: (request: SipRequest, response: SipResponse) => void): unknown
}

/** Options of {@link SrfLike.createUAC}. */
export interface UacOptions {
  /** Undefined: the far side is to make the offer. */
  readonly localSdp?: string
  /** A 200 with an offer comes back as an {@link OfferedAnswer}. */
  readonly noAck?: true
  readonly headers: Headers
  /** Where the INVITE goes although its request-URI says otherwise; a SIP URI. */
  readonly proxy?: string
}

/**
 * A request of ours outside calls that was sent; it gets one final response, of the far side or of the agent.
 */
export interface SentRequest {
  get(name: string): string | undefined
  on(event: 'response', listener: (response: FarResponse) => void): unknown
}

/** What the gateway uses of drachtio-srf. Tests pass a stand-in. */
export interface SrfLike {
  connect(options: { host: string; port: number; secret: string; enablePing?: boolean }): unknown
  /** Throws when there is no connection. */
  disconnect(): void
  on(event: 'connect', listener: (error: unknown, hostports?: string, version?: string) => void): unknown
  on(event: 'close' | 'reconnecting', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  /** For every request that belongs to no dialog that drachtio-srf knows. */
  use(handler: (request: SipRequest, response: SipResponse, next: () => void) => void): unknown
  /** For one method; the agent is asked for it. `method` in lower case. */
  use(method: string, handler: (request: SipRequest, response: SipResponse) => void): unknown
  /** Sends a 200. The callback is called before anything of the dialog is handed out. */
  createUAS(
    request: SipRequest,
    response: SipResponse,
    options: { localSdp?: string; headers: Headers },
    callback: (error: unknown, dialog?: SipDialog) => void,
  ): unknown
  /**
   * Sends an INVITE; ACK and PRACK are drachtio-srf's, but for `noAck`. Throws when there is no connection.
   */
  createUAC(
    uri: string,
    options: UacOptions,
    progress: {
      cbRequest: (error: unknown, request?: SipRequest) => void
      cbProvisional: (response: FarResponse) => void
    },
    callback: (error: Refusal | null, answer?: SipDialog | OfferedAnswer) => void,
  ): unknown
  /** Sends a request outside calls. Throws when there is no connection. */
  request(
    uri: string,
    options: { method: string; headers: Headers; proxy?: string },
    callback: (error: unknown, request?: SentRequest) => void,
  ): unknown
  /**
   * Of drachtio-srf's insides only what stops its reconnecting while it is not connected; it has no method
   * for that.
   */
  readonly app?: {
    readonly client?: {
      readonly wp?: {
        closing?: boolean
        reconnectVars?: { retryTimer?: NodeJS.Timeout | null }
      }
    }
  }
}

/** The real one. */
export const createSrf = (): SrfLike => new Srf() as unknown as SrfLike
