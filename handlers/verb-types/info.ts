/** Variables of a call from a browser: plain JSON, untrusted whatever its contents. */
export type UserVariables = Readonly<Record<string, unknown>>

/** Facts about a call at the start of its handler. */
export interface CallInfo {
  readonly callId: string
  readonly direction: 'inbound' | 'outbound'
  /** Signalling of the first leg. */
  readonly type: 'sip' | 'webrtc'
  /** SIP URI or address of the caller. */
  readonly from: string
  /** SIP URI or address of the callee. */
  readonly to: string
  /** User part of `from`; for a browser, the name in its address. */
  readonly fromUser: string
  /** User part of `to`; for a browser, the name in its address. */
  readonly toUser: string
  /** Display name of the caller; empty without one. */
  readonly fromName: string
  /** Application headers (`X-…`) of the INVITE, in order. */
  readonly headers: readonly Header[]
  /** Variables that the calling browser sent; absent without any. */
  readonly userVariables?: UserVariables
  /** Id of the project that owns the handler. */
  readonly projectId: string
  /** Result of answering machine detection on an outbound call; absent if the call was made without it. */
  readonly answeredBy?: 'human' | 'machine_start' | 'machine_end_beep' | 'machine_end_silence' | 'unknown'
  /**
   * Identifiers of a SIP call, for webhooks: its Call-ID, the host of the request URI, and the source address
   * of an inbound call. Absent for browser calls.
   */
  readonly sip?: { readonly callId: string; readonly domain: string; readonly sourceAddress?: string }
}

/** Times of a call, in milliseconds since the epoch. */
export interface CallTimes {
  readonly startedAt: number
  /** Absent until the caller is answered. */
  readonly answeredAt?: number
}

/** Header field of SIP. */
export interface Header {
  readonly name: string
  readonly value: string
}
