import Srf from 'drachtio-srf'

/** Header fields by name; a repeated field is one value, joined with commas. */
export type Headers = Record<string, string>

/**
 * Request received from a peer, or sent by the gateway. It has the part of drachtio-srf's class that the
 * gateway uses.
 */
export interface SipRequest {
  readonly method: string
  readonly uri: string
  readonly body?: string
  readonly protocol: string
  readonly source_address: string
  readonly source_port: number
  /** drachtio's id of the dialog; undefined for a request outside a dialog. */
  readonly stackDialogId?: string
  readonly msg: { readonly headers: Readonly<Headers> }
  get(name: string): string | undefined
  /** The peer has cancelled its INVITE. The agent has already sent the 487. */
  on(event: 'cancel', listener: (cancel?: Pick<SipRequest, 'get'>) => void): unknown
  /**
   * The peer has sent an UPDATE before the final response to the INVITE. The listener must respond
   * synchronously.
   */
  on(event: 'update', listener: (request: SipRequest, response: SipResponse) => void): unknown
  /** A response to a sent request has arrived. `acknowledge` sends its ACK or PRACK. */
  on(event: 'response', listener: (response: FarResponse, acknowledge: Acknowledge) => void): unknown
  /** Response object of a received request. */
  readonly res?: SipResponse
  /** Cancels a sent INVITE. Throws if the connection is lost. */
  cancel(options: { headers?: Headers }, callback: (error: unknown) => void): void
}

/** Response that the gateway sends to a {@link SipRequest}. */
export interface SipResponse {
  readonly finalResponseSent: boolean
  /**
   * Sends a response. Throws for an unknown status. The callback receives the agent's result. For a response
   * that requires `100rel`, `onPrack` receives the PRACK. It must answer synchronously with the PRACK's
   * `res`.
   */
  send(
    status: number,
    options?: { headers?: Headers; body?: string },
    callback?: (error: unknown) => void,
    onPrack?: (prack: SipRequest) => void,
  ): void
}

/** Response to a request of the gateway. */
export interface FarResponse {
  readonly status: number
  readonly reason: string
  readonly body?: string
  /** Empty for a response that the agent generated. */
  readonly source_address: string
  readonly source_port?: number
  readonly msg?: { readonly headers: Readonly<Headers> }
  /** Request that is answered, as it was sent. */
  readonly req?: { readonly uri: string }
  get(name: string): string | undefined
  /** Whether a header is present. drachtio-srf calls it before it sends the PRACK of a reliable response. */
  has?(name: string): boolean
}

/** Sends the ACK of a final response, or the PRACK of a reliable provisional one. */
export type Acknowledge = (options?: { body?: string; headers?: Headers }) => void

/** 200 with an offer, for an INVITE without an offer. Its ACK must still be sent. */
export interface OfferedAnswer {
  readonly res: FarResponse
  /** Sends the ACK with the answer. Rejects if no dialog can be made. */
  ack(localSdp: string | undefined): Promise<SipDialog>
}

/** Error of drachtio-srf for a rejected INVITE. Other errors have no `status`, `reason` and `res`. */
export interface Refusal {
  readonly status?: number
  readonly reason?: string
  readonly res?: FarResponse
  readonly message?: string
}

/** Methods of requests inside a dialog for which listeners can be set. The listener must respond. */
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
  /** Identifiers of the dialog. */
  readonly sip?: { readonly callId: string; readonly localTag: string; readonly remoteTag: string }
  /** The 200 that created the dialog, for an outbound INVITE. */
  readonly res?: FarResponse
  readonly local: { sdp: string; readonly contact: string }
  readonly remote: { readonly sdp?: string; readonly uri?: string }
  /** Sends BYE. The callback runs at the final response. It never runs if the connection is lost. */
  destroy(options: { headers?: Headers }, callback: (error: unknown) => void): void
  request(
    options: { method: string; headers?: Headers; body?: string },
    callback: (error: unknown, response?: FarResponse) => void,
  ): void
  /** The peer, or the agent, has sent BYE. The agent adds a `reason`. */
  on(event: 'destroy', listener: (request: SipRequest, reason?: string) => void): unknown
  on(event: 'ack', listener: (request: SipRequest) => void): unknown
  on(event: InDialogMethod, listener: (request: SipRequest, response: SipResponse) => void): unknown
}

/** Options of {@link SrfLike.createUAC}. */
export interface UacOptions {
  /** Undefined: the peer makes the offer. */
  readonly localSdp?: string
  /** A 200 with an offer is returned as an {@link OfferedAnswer}. */
  readonly noAck?: true
  readonly headers: Headers
  /** Next hop of the INVITE, in place of its request-URI; a SIP URI. */
  readonly proxy?: string
}

/** A sent request outside calls. It gets one final response, from the peer or from the agent. */
export interface SentRequest {
  get(name: string): string | undefined
  on(event: 'response', listener: (response: FarResponse) => void): unknown
}

/** The part of drachtio-srf that the gateway uses. Tests replace it with a fake. */
export interface SrfLike {
  connect(options: { host: string; port: number; secret: string; enablePing?: boolean }): unknown
  /** Throws if there is no connection. */
  disconnect(): void
  on(event: 'connect', listener: (error: unknown, hostports?: string, version?: string) => void): unknown
  on(event: 'close' | 'reconnecting', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Sets a handler for every request outside the dialogs that drachtio-srf knows. */
  use(handler: (request: SipRequest, response: SipResponse, next: () => void) => void): unknown
  /** Sets the handler for one method, in lower case, and makes the agent deliver requests of that method. */
  use(method: string, handler: (request: SipRequest, response: SipResponse) => void): unknown
  /** Sends a 200. The callback is called before any event of the dialog. */
  createUAS(
    request: SipRequest,
    response: SipResponse,
    options: { localSdp?: string; headers: Headers },
    callback: (error: unknown, dialog?: SipDialog) => void,
  ): unknown
  /**
   * Sends an INVITE. drachtio-srf sends ACK and PRACK, except with `noAck`. Throws if there is no connection.
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
  /** Sends a request outside calls. Throws if there is no connection. */
  request(
    uri: string,
    options: { method: string; headers: Headers; proxy?: string },
    callback: (error: unknown, request?: SentRequest) => void,
  ): unknown
  /**
   * Internals of drachtio-srf, by which the gateway stops its attempts to reconnect. drachtio-srf has no
   * method for this.
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

/** Returns an instance of drachtio-srf. */
export const createSrf = (): SrfLike => new Srf() as unknown as SrfLike
