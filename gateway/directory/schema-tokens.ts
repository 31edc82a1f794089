/** Refresh tokens of subscribers and guests; each is good once. */
export interface RefreshTokenTable {
  id: string
  /** SHA-256 of the token, hex. */
  hash: string
  /**
   * Shared by all that came out of one sign-in, each replacing the one before: one that is used twice ends
   * them all.
   */
  family: string
  project_id: string
  /** Goes with the subscriber; null: a guest's. */
  subscriber_id: string | null
  /** Of the access token that it renews: `subscriber`, `guest` or `invite`. */
  kind: string
  /** What the new access token is to say. */
  claims_json: string
  expires_at: number
  used_at: number | null
  created_at: number
}

/** Access tokens that are not good any more, until they would have expired. */
export interface RevokedTokenTable {
  jti: string
  expires_at: number
}

/** Answers to POSTs that may be repeated. */
export interface IdempotencyTable {
  project_id: string
  /** With the project: the key that the request named. */
  key: string
  route: string
  /** Of method, path and body: another request must not use the key. */
  request_hash: string
  /** Null: it is being answered, or the process died while it was. */
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
  /** 1: an application that is installed on a device (RFC 8252). */
  native: number
  /** SHA-256, hex; null: a public client. */
  secret_hash: string | null
  scopes_json: string
  managed_by_file: number
  created_at: number
  updated_at: number
}

/** What oidc-provider keeps: sessions, grants, codes and so on; model and id together are the key. */
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

/** Devices of subscribers that notifications go to. */
export interface DeviceTable {
  id: string
  /** Goes with the subscriber. */
  subscriber_id: string
  project_id: string
  /** Of the push service; unique for the subscriber. */
  token: string
  type: string
  created_at: number
}
