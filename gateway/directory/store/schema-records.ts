/** Gateways that share the store. */
export interface NodeTable {
  id: string
  /** Time of the gateway's latest heartbeat. */
  seen_at: number
}

/**
 * Calls as customers see them, in progress and ended: the caller's call, and each outbound call that it
 * creates.
 */
export interface CallTable {
  id: string
  /** Gateway that handles or handled the call. */
  node_id: string
  project_id: string
  /** Call that created this call; null if no call did. */
  parent_id: string | null
  direction: string
  type: string
  from_uri: string
  /** User part of a SIP URI, otherwise the whole `from`; used for searches. */
  from_user: string
  to_uri: string
  to_user: string
  status: string
  created_at: number
  ringing_at: number | null
  answered_at: number | null
  ended_at: number | null
  /** Code of the error that ended the call, from the error catalogue. */
  code: string | null
  sip_status: number | null
  answered_by: string | null
  document: string | null
  /** Status target; null without one, or after the end. May contain a user and a password. */
  status_json: string | null
}

/** CDRs of ended calls and of their legs. Durations are milliseconds. */
export interface CdrTable {
  /** Id of the call, or of the leg. */
  id: string
  kind: 'call' | 'leg'
  project_id: string
  call_id: string
  /** Position of a leg in its call, from 0; 0 for a call. */
  place: number
  /** Role of a leg: caller or callee. */
  role: string | null
  type: string
  direction: string
  from_uri: string
  from_user: string
  to_uri: string
  to_user: string
  carrier: string | null
  /** Called domain, and source address, if the call arrived by SIP. */
  domain: string | null
  source: string | null
  sip_call_id: string | null
  started_at: number
  ringing_at: number | null
  answered_at: number | null
  ended_at: number
  duration_ms: number
  /** Duration from the answer to the end. */
  answered_ms: number
  code: string | null
  ended_by: string | null
  sip_status: number | null
  q850: number | null
  codec: string | null
  mos: number | null
  /** Share of lost packets, 0 to 1. */
  loss: number | null
  jitter_ms: number | null
  /** Complete CDR as JSON. */
  record_json: string
}

/** Ended calls of subscribers, as their history shows them. */
export interface SubscriberCallTable {
  /** Id of the leg of the subscriber. */
  id: string
  subscriber_id: string
  project_id: string
  /** Id of the call in the subscriber's browsers. */
  call_id: string
  direction: 'inbound' | 'outbound'
  /** Name of the other party; empty if unknown. */
  name: string
  /** Number, address or SIP URI of the other party, as it can be dialed. */
  number: string
  result: string
  /** Code of the end, from the error catalogue. */
  code: string
  started_at: number
  answered_at: number | null
  ended_at: number
  /**
   * Gateway of a call in progress. Result, code and end of the row are then those that apply if the gateway
   * crashes. Null for an ended call.
   */
  node_id: string | null
}
