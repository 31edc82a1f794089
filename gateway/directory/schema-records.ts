/** Gateways that share the store. */
export interface NodeTable {
  id: string
  /** Time of its latest sign of life. */
  seen_at: number
}

/** Calls as customers see them: each caller's, and each outbound call of it; in progress, and ended. */
export interface CallTable {
  id: string
  /** Gateway that handles it, or did. */
  node_id: string
  project_id: string
  /** Call that created this one; null without one. */
  parent_id: string | null
  direction: string
  type: string
  from_uri: string
  /** User part of a SIP URI, else the whole: key of searches. */
  from_user: string
  to_uri: string
  to_user: string
  status: string
  created_at: number
  ringing_at: number | null
  answered_at: number | null
  ended_at: number | null
  /** Reason of the end, in the catalogue of errors. */
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
  /** Duration from the answer on. */
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
  /** The whole CDR. */
  record_json: string
}
