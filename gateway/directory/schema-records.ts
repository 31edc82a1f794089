/** Gateways that share the store. */
export interface NodeTable {
  id: string
  /** When it last said that it is there. */
  seen_at: number
}

/** Calls as customers see them: each caller's, and each that was called out of it; in progress, and over. */
export interface CallTable {
  id: string
  /** The gateway that has it, or had it. */
  node_id: string
  project_id: string
  /** The call that made this one; null: none did. */
  parent_id: string | null
  direction: string
  type: string
  from_uri: string
  /** User part of a SIP URI, else the whole: what calls are found by. */
  from_user: string
  to_uri: string
  to_user: string
  status: string
  created_at: number
  ringing_at: number | null
  answered_at: number | null
  ended_at: number | null
  /** Of the catalogue of errors: why it ended. */
  code: string | null
  sip_status: number | null
  answered_by: string | null
  document: string | null
  /** Where its states are told; null: nowhere, or it is over. May hold a user and a password. */
  status_json: string | null
}

/** Records of calls that are over, and of their legs (CDR). Durations are milliseconds. */
export interface CdrTable {
  /** Of the call, or of the leg. */
  id: string
  kind: 'call' | 'leg'
  project_id: string
  call_id: string
  /** Of a leg: its place in its call, from 0; of a call 0. */
  place: number
  /** Of a leg: caller or callee. */
  role: string | null
  type: string
  direction: string
  from_uri: string
  from_user: string
  to_uri: string
  to_user: string
  carrier: string | null
  /** That was called, and the address that called, where the call came by SIP. */
  domain: string | null
  source: string | null
  sip_call_id: string | null
  started_at: number
  ringing_at: number | null
  answered_at: number | null
  ended_at: number
  duration_ms: number
  /** From the answer on. */
  answered_ms: number
  code: string | null
  ended_by: string | null
  sip_status: number | null
  q850: number | null
  codec: string | null
  mos: number | null
  /** Part of the packets that never came, 0 to 1. */
  loss: number | null
  jitter_ms: number | null
  /** The whole of it. */
  record_json: string
}
