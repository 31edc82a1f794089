/** Refresh tokens of subscribers and guests; each can be used once. */
export interface RefreshTokenTable {
  id: string
  /** SHA-256 of the token, hex. */
  hash: string
  /**
   * Id shared by all tokens of one sign-in, each of which replaces the previous token. A second use of a
   * token revokes the whole family.
   */
  family: string
  project_id: string
  /** Removed with the subscriber; null for a guest. */
  subscriber_id: string | null
  /** Kind of the renewed access token: `subscriber`, `guest` or `invite`. */
  kind: string
  /** Claims for the next access token. */
  claims_json: string
  expires_at: number
  used_at: number | null
  created_at: number
}

/** Revoked access tokens, until they would have expired. */
export interface RevokedTokenTable {
  jti: string
  expires_at: number
}

/** Responses to POST requests with an idempotency key. */
export interface IdempotencyTable {
  project_id: string
  /** Idempotency key of the request. Part of the primary key, with the project. */
  key: string
  route: string
  /** Hash of method, path and body: another request must not use the key. */
  request_hash: string
  /** Status of the response; null until the response is stored, or if the process ended before that. */
  status: number | null
  body: string | null
  content_type: string | null
  created_at: number
}

/** Applications that subscribers sign in to by OAuth. */
export interface OAuthClientTable {
  id: string
  project_id: string
  name: string
  redirect_uris_json: string
  /** 1 for an application on a device (RFC 8252), otherwise 0. */
  native: number
  /** SHA-256, hex; null for a public client. */
  secret_hash: string | null
  scopes_json: string
  managed_by_file: number
  created_at: number
  updated_at: number
}

/** Payloads of oidc-provider: sessions, grants, codes and so on; model and id together are the key. */
export interface OAuthPayloadTable {
  model: string
  id: string
  payload_json: string
  grant_id: string | null
  user_code: string | null
  uid: string | null
  consumed_at: number | null
  /** Null: never. */
  expires_at: number | null
}

/** Devices of subscribers that receive notifications. */
export interface DeviceTable {
  id: string
  /** Removed with the subscriber. */
  subscriber_id: string
  project_id: string
  /** Token of the push service; unique for the subscriber. */
  token: string
  type: string
  created_at: number
}
