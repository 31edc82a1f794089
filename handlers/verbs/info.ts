/** Plain JSON that a page says about its call; data of the outside, whatever its texts look like. */
export type UserVariables = Readonly<Record<string, unknown>>

/** What is known of a call when its handler starts. */
export interface CallInfo {
  readonly callId: string
  readonly direction: 'inbound' | 'outbound'
  /** How the first leg arrived. */
  readonly type: 'sip' | 'webrtc'
  /** SIP URI or address of the caller. */
  readonly from: string
  /** SIP URI or address that was called. */
  readonly to: string
  /** User part of `from` and `to` (for a browser, the address's name). */
  readonly fromUser: string
  readonly toUser: string
  /** Caller's display name; empty when there is none. */
  readonly fromName: string
  /** Application headers (`X-…`) of the INVITE, in order. */
  readonly headers: readonly Header[]
  /** Variables that a browser dialled with; absent: none, or no browser. */
  readonly userVariables?: UserVariables
  /** Id of the project that owns the handler. */
  readonly projectId: string
  /** Who answered a call that we made, where that was listened for. */
  readonly answeredBy?: 'human' | 'machine_start' | 'machine_end_beep' | 'machine_end_silence' | 'unknown'
  /** SIP's own ids, for webhooks; absent for browser calls. `domain`: the host that was called; of a call that we made there is no source. */
  readonly sip?: { readonly callId: string; readonly domain: string; readonly sourceAddress?: string }
}

/** A header field. */
export interface Header {
  readonly name: string
  readonly value: string
}
